// Looks at the page of a watch in a browser, over the pipe of its DevTools: no package is needed.
//
// usage: node check.mjs BROWSER URL [FOLDER]
// Prints what is wrong, one thing a line, and ends with 1 if anything is. FOLDER gets pictures.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [browser, url, folder] = process.argv.slice(2);
const origin = new URL(url).origin;
const profile = mkdtempSync(join(tmpdir(), "trueup-page-"));
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
  "--disable-background-networking", "--no-first-run", `--user-data-dir=${profile}`, "about:blank"];
const child = spawn(browser, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const wrong = [];
const check = (holds, what) => { if (!holds) wrong.push(what); };

let id = 0;
let rest = "";
const answers = new Map();
const listeners = new Map();
child.stdio[4].setEncoding("utf8").on("data", (data) => {
  const parts = (rest + data).split("\0");
  rest = parts.pop();
  for (const message of parts.map((part) => JSON.parse(part))) {
    if (message.id) {
      const { resolve, reject } = answers.get(message.id);
      message.error ? reject(new Error(message.error.message)) : resolve(message.result);
    } else {
      listeners.get(message.method)?.forEach((listener) => listener(message.params));
    }
  }
});
let sessionId;
const send = (method, params = {}) => new Promise((resolve, reject) => {
  answers.set(++id, { resolve, reject });
  child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
});
const on = (method, listener) => listeners.set(method, [...(listeners.get(method) ?? []), listener]);
const once = (method) => new Promise((resolve) => on(method, resolve));
const evaluate = async (expression) => {
  const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true });
  if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
  return result.value;
};
const loaded = async (act) => { const done = once("Page.loadEventFired"); await act(); await done; };
const go = (query) => loaded(() => send("Page.navigate", { url: url + query }));
const click = (selector) => loaded(() => evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`));

async function look(width, scheme) {
  const at = `${width} pixels, ${scheme}`;
  const mobile = width < 600;
  await send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile });
  await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  await go("?paused=1");
  check(await evaluate("document.scripts.length") === 0, `${at}: there is a script`);
  const handlers = `[...document.querySelectorAll("*")].flatMap((e) => e.getAttributeNames()).filter((n) => n.startsWith("on"))`;
  check((await evaluate(handlers)).length === 0, `${at}: there is a handler`);
  check(await evaluate("document.documentElement.scrollWidth <= window.innerWidth"), `${at}: it is too wide`);
  check(await evaluate(`getComputedStyle(document.querySelector(".counts")).display`) === "grid", `${at}: it has no style`);
  const tops = await evaluate(`["h1", ".counts", ".note", ".tools", ".objects"].map((s) => document.querySelector(s).getBoundingClientRect().top)`);
  check(tops.every((top, i) => i === 0 || top > tops[i - 1]), `${at}: the order is another: ${tops}`);
  const small = `[...document.querySelectorAll(".counts a, button")].filter((e) => e.getBoundingClientRect().height < 32).length`;
  check(await evaluate(small) === 0, `${at}: something is too small for a finger`);
  const first = await evaluate(`document.querySelector(".objects > li").className`);
  check(first === "is-bad", `${at}: trouble is not first: ${first}`);
  const dark = await evaluate(`getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0] < 128`);
  check(dark === (scheme === "dark"), `${at}: the colours are those of another scheme`);
  if (folder) {
    const { data } = await send("Page.captureScreenshot", { captureBeyondViewport: true });
    writeFileSync(join(folder, `page-${width}-${scheme}.png`), Buffer.from(data, "base64"));
  }
}

async function use() {
  await go("?paused=1");
  await click(`a[href*="condition=Conflict"]`);
  const names = `[...document.querySelectorAll(".objects > li strong")].map((e) => e.textContent)`;
  const conflicts = await evaluate(names);
  check(conflicts.length === 1 && conflicts[0].includes("contested"), `a filter shows ${conflicts}`);
  await evaluate(`document.querySelector("input[type=search]").value = "<script>alert(1)</script>"`);
  await click(".find button");
  check(await evaluate(`document.querySelector("input[type=search]").value`) === "<script>alert(1)</script>", "what is sought is another");
  check(await evaluate(`document.querySelectorAll(".empty").length`) === 1, "something is found");
  check((await evaluate("location.search")).includes("condition=Conflict"), "the filter is lost");
  await click(`form[method=post] button`);
  check(await evaluate("location.pathname") === "/status", "the button leads elsewhere");
}

const patience = setTimeout(() => { console.log("it hangs"); process.exitCode = 1; child.kill(); }, 60_000);
try {
  const { targetInfos } = await send("Target.getTargets");
  const targetId = targetInfos.find((target) => target.type === "page").targetId;
  ({ sessionId } = await send("Target.attachToTarget", { targetId, flatten: true }));
  on("Log.entryAdded", ({ entry }) => check(false, `the browser says: ${entry.text}`));
  on("Runtime.consoleAPICalled", ({ args }) => check(false, `something was said: ${JSON.stringify(args)}`));
  on("Page.javascriptDialogOpening", ({ message }) => { check(false, `a dialog: ${message}`); send("Page.handleJavaScriptDialog", { accept: true }); });
  on("Network.requestWillBeSent", ({ request }) => check(request.url.startsWith(origin + "/"), `it asks ${request.url}`));
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`);
  for (const width of [390, 1200]) for (const scheme of ["light", "dark"]) await look(width, scheme);
  await use();
} catch (error) {
  check(false, error.stack);
}
clearTimeout(patience);
child.kill();
await new Promise((resolve) => (child.exitCode ?? child.signalCode) !== null ? resolve() : child.once("exit", resolve));
rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
wrong.forEach((what) => console.log(what));
if (wrong.length > 0) process.exitCode = 1;
