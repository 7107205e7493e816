//! The program at work in its image: it serves, applies over TLS, and watches, as the Deployment of `deploy/kubernetes`
//! runs it.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize as _;
use serde_json::Value;
use tempfile::TempDir;

use crate::front::Front;
use crate::names;
use crate::podman::Image;

const NAME: &str = "api.example.test";
const TEAM: &str = "apiVersion: demo\nkind: Team\nmetadata: {name: red}\nspec: {size: 3}\n";

/// The flag that shows a file or folder of the host.
fn shown(from: &Path, to: &str, how: &str) -> [String; 2] {
    ["--volume".into(), format!("{}:{to}:{how}", from.display())]
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// A folder that the image's user may look into, or write into.
fn folder(at: &Path, name: &str, mode: u32) -> PathBuf {
    let folder = at.join(name);
    fs::create_dir(&folder).expect("a folder");
    fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("its mode");
    folder
}

fn backend(port: u16, tls: &str) -> String {
    format!(
        "apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: demo}}\nspec:\n  url: https://{NAME}:{port}\n{tls}  kinds:\n    \
         Team:\n      key: {{name: .id}}\n      read: GET /teams/{{name}}\n      create: PUT /teams/{{name}}\n      \
         update: {{request: \"PATCH /teams/{{name}}\", send: merge}}\n      version: etag\n"
    )
}

/// The words that the Deployment gives the program, but for the port that others may have taken.
fn arguments(port: u16) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/kubernetes/trueup.yaml");
    let text = fs::read_to_string(path).expect("the manifest");
    let mut documents =
        serde_yaml::Deserializer::from_str(&text).map(|one| Value::deserialize(one).expect("YAML"));
    let found = documents.find(|one| one["kind"] == "Deployment").expect("a Deployment");
    let words =
        found["spec"]["template"]["spec"]["containers"][0]["args"].as_array().expect("a list").clone();
    let word =
        |word: &Value| word.as_str().expect("a text").replace("0.0.0.0:8081", &format!("127.0.0.1:{port}"));
    words.iter().map(word).collect()
}

/// A server in a container, TLS in front of it, and folders.
struct Scene<'i> {
    folder: TempDir,
    manifests: PathBuf,
    front: Front,
    server: SocketAddr,
    client: reqwest::Client,
    _serving: crate::podman::Running<'i>,
}

impl<'i> Scene<'i> {
    async fn open(image: &'i Image) -> Scene<'i> {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("its mode");
        let store = self::folder(folder.path(), "store", 0o777);
        let manifests = self::folder(folder.path(), "manifests", 0o755);
        let server: SocketAddr = ([127, 0, 0, 1], free_port()).into();
        let address = server.to_string();
        let words = ["serve", "--store", "/store", "--listen", &address];
        let mut serving = image.start("serve", &shown(&store, "/store", "rw"), &words);
        let front = Front::of(NAME, server).await;
        fs::write(manifests.join("team.yaml"), TEAM).expect("written");
        fs::write(manifests.join("ca.pem"), &front.authority).expect("written");
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        serving.until("it serves", || std::net::TcpStream::connect(server).is_ok());
        Scene { folder, manifests, front, server, client, _serving: serving }
    }

    fn trust(&self, tls: &str) {
        fs::write(self.manifests.join("backend.yaml"), backend(self.front.port, tls)).expect("written");
    }

    fn flags(&self, more: &[[String; 2]]) -> Vec<String> {
        [&[shown(&self.manifests, "/manifests", "ro")], more].concat().concat()
    }

    async fn size(&self) -> Option<Value> {
        let answer = self.client.get(format!("http://{}/teams/red", self.server)).send().await.ok()?;
        let team: Value = serde_json::from_str(&answer.text().await.ok()?).ok()?;
        team.get("size").or_else(|| team["spec"].get("size")).cloned()
    }

    async fn until_size(&self, size: u64) {
        let began = Instant::now();
        while self.size().await != Some(size.into()) {
            assert!(began.elapsed() < Duration::from_secs(60), "the size is {:?}", self.size().await);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn named() -> [String; 2] {
    ["--add-host".into(), format!("{NAME}:127.0.0.1")]
}

#[tokio::test(flavor = "multi_thread")]
async fn it_trusts_whom_its_files_or_the_backend_name() {
    let Some(image) = Image::from_env() else { return };
    let scene = Scene::open(&image).await;
    let apply = ["apply", "--yes", "-f", "/manifests"];
    // An authority that is neither among the public ones nor named.
    scene.trust("");
    let said = image.run(&scene.flags(&[named()]), &apply, 1);
    assert!(said.contains("certificate") && said.contains("`tls.ca`"), "{said}");
    assert_eq!(scene.size().await, None);
    // Among those of the image.
    let bundle = shown(&scene.manifests.join("ca.pem"), "/etc/ssl/certs/ca-certificates.crt", "ro");
    image.run(&scene.flags(&[named(), bundle]), &apply, 0);
    assert_eq!(scene.size().await, Some(3.into()));
    // Named by the backend; and the name is asked for at a name server.
    scene.trust("  tls: {ca: /manifests/ca.pem}\n");
    let resolver = scene.folder.path().join("resolv.conf");
    fs::write(&resolver, format!("nameserver {}\n", names::ADDRESS)).expect("written");
    if names::serve().await {
        let resolver = shown(&resolver, "/etc/resolv.conf", "ro");
        let said = image.run(&scene.flags(&[resolver]), &["plan", "-f", "/manifests"], 0);
        assert!(said.starts_with("The one object is in sync."), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_watches_as_the_deployment_says() {
    let Some(image) = Image::from_env() else { return };
    let scene = Scene::open(&image).await;
    scene.trust("  tls: {ca: /manifests/ca.pem}\n");
    let port = free_port();
    let arguments = arguments(port);
    let words: Vec<&str> = arguments.iter().map(|word| &**word).collect();
    let run = ["--tmpfs".into(), "/run/trueup".into()];
    let token = ["--env".into(), "LISTEN_TOKEN=open-sesame".into()];
    let often = ["--env".into(), "TRUEUP_INTERVAL=1s".into()];
    let mut watching = image.start("watch", &scene.flags(&[named(), run, token, often]), &words);
    scene.until_size(3).await;
    let drifted = scene.client.patch(format!("http://{}/teams/red", scene.server));
    let drifted = drifted.header("content-type", "application/merge-patch+json").body(r#"{"size": 4}"#);
    assert!(drifted.send().await.expect("an answer").status().is_success());
    scene.until_size(3).await;
    // What the probes ask is for anybody, the rest for who shows the token.
    for (path, token, status) in [
        ("healthz", "", 200),
        ("readyz", "", 200),
        ("status", "", 401),
        ("status", "open-sesame", 200),
        ("metrics", "open-sesame", 200),
    ] {
        let mut request = scene.client.get(format!("http://127.0.0.1:{port}/{path}"));
        if !token.is_empty() {
            request = request.bearer_auth(token);
        }
        assert_eq!(request.send().await.expect("an answer").status().as_u16(), status, "{path}");
    }
    // The status file is in the one place that can be written to.
    let name = watching.name.clone();
    let status = ["exec", &name, "/trueup", "status", "--status-file", "/run/trueup/status.json"];
    watching.until("its status says that all is in sync", || image.tries(&status));
    let (code, said) = watching.stop();
    assert_eq!(code, Some(0), "{said}");
}
