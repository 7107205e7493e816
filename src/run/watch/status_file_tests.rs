use std::sync::Mutex;
use std::time::UNIX_EPOCH;

use super::*;
use crate::core::secrets::Secrets;
use crate::render::watch::sample;

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|metadata| metadata.modified()).expect("it is there")
}

/// Messages that were logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Event>>>);

impl Log {
    fn messages(&self) -> Vec<&'static str> {
        self.0.lock().expect("it is whole").iter().map(|event| event.message).collect()
    }
}

struct Watch {
    folder: tempfile::TempDir,
    shown: Shown,
    log: Log,
    stop: CancellationToken,
    task: Option<tokio::task::JoinHandle<()>>,
}

impl Watch {
    fn new(name: &str) -> Watch {
        let folder = tempfile::tempdir().expect("a folder");
        let secrets = Secrets::default();
        secrets.learn([sample::CANARY]);
        let mut watch = Watch {
            shown: Shown::new(Instant::now(), secrets),
            folder,
            log: Log::default(),
            stop: CancellationToken::new(),
            task: None,
        };
        let (log, path) = (watch.log.clone(), watch.file(name));
        let told = move |event| log.0.lock().expect("it is whole").push(event);
        watch.task = Some(tokio::spawn(keep(watch.shown.clone(), path, told, watch.stop.clone())));
        watch
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("the folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    async fn end(&mut self) {
        self.stop.cancel();
        self.task.take().expect("once").await.expect("no panic");
    }
}

/// Lets virtual time pass, and the disk do its work, until this holds.
async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..2_000 {
        if holds() {
            return;
        }
        tokio::time::advance(Duration::from_millis(50)).await;
        // The threads that write are on real time.
        std::thread::sleep(Duration::from_millis(1));
        tokio::task::yield_now().await;
    }
    panic!("it never came: {what}");
}

#[test]
fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("status.json");
    replace(&path, b"one").expect("written");
    let reader = File::open(&path).expect("open");
    // Of a process with our number that was killed.
    let draft = folder.path().join(format!(".status.json.{}.part", std::process::id()));
    fs::write(&draft, "half").expect("written");
    replace(&path, b"two").expect("written");
    assert_eq!(io::read_to_string(reader).expect("read"), "one", "who reads it goes on reading the old one");
    assert_eq!(fs::read_to_string(&path).expect("read"), "two");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o133, 0, "others write nothing: {mode:o}");
        // Whoever laid a trap for the draft gets nothing written through it.
        let victim = folder.path().join("victim");
        fs::write(&victim, "mine").expect("written");
        std::os::unix::fs::symlink(&victim, &draft).expect("a link");
        replace(&path, b"three").expect("written");
        assert_eq!(fs::read_to_string(&victim).expect("read"), "mine");
    }
    assert!(replace(&folder.path().join("gone/status.json"), b"x").is_err());
    assert!(replace(Path::new("/"), b"x").is_err());
    fs::create_dir(folder.path().join("folder")).expect("made");
    assert!(replace(&folder.path().join("folder"), b"x").is_err());
    let drafts = fs::read_dir(folder.path()).expect("the folder");
    assert!(
        !drafts.into_iter().any(|entry| entry.expect("one").file_name().to_string_lossy().ends_with(".part"))
    );
}

#[tokio::test(start_paused = true)]
async fn it_is_written_when_something_changed_and_touched_when_nothing_did() {
    let mut watch = Watch::new("status.json");
    let file = watch.file("status.json");
    until("the first one", || file.exists()).await;
    watch.shown.publish(sample::hostile());
    until("the change", || {
        fs::read_to_string(&file).is_ok_and(|text| text.contains("manifests/queues.yaml"))
    })
    .await;
    let text = fs::read_to_string(&file).expect("read");
    sample::harmless(&text);
    json::read(&text).expect("a document");
    assert_eq!(watch.names(), ["status.json"]);

    // The same again, but for the counters of the queue.
    fs::write(&file, "marked").expect("written");
    let mut same = sample::hostile();
    same.status.counters.adds += 1;
    watch.shown.publish(same);
    let long_ago = UNIX_EPOCH + Duration::from_secs(1);
    File::options().write(true).open(&file).and_then(|file| file.set_modified(long_ago)).expect("set");
    until("a heartbeat", || modified(&file) > long_ago).await;
    assert_eq!(fs::read_to_string(&file).expect("read"), "marked", "it was touched, not written");

    // A loop that is busy with what changes nothing gives its sign of life too.
    File::options().write(true).open(&file).and_then(|file| file.set_modified(long_ago)).expect("set");
    let adds = std::cell::Cell::new(1);
    until("a heartbeat", || {
        let mut busy = sample::hostile();
        adds.set(adds.get() + 1);
        busy.status.counters.adds += adds.get();
        watch.shown.publish(busy);
        modified(&file) > long_ago
    })
    .await;
    assert_eq!(fs::read_to_string(&file).expect("read"), "marked", "it was touched, not written");

    // A loop that hangs gives no sign of life.
    tokio::time::advance(SILENCE).await;
    File::options().write(true).open(&file).and_then(|file| file.set_modified(long_ago)).expect("set");
    for _ in 0..10 {
        tokio::time::advance(HEARTBEAT).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(modified(&file), long_ago);

    // What is gone comes back.
    fs::remove_file(&file).expect("removed");
    watch.shown.alive();
    until("the file again", || {
        watch.shown.alive();
        file.exists()
    })
    .await;
    watch.shown.publish(sample::well());
    watch.end().await;
    let text = fs::read_to_string(&file).expect("read");
    assert_eq!(
        json::read(&text).expect("a document").objects.len(),
        2,
        "the last word is written at the end"
    );
    assert!(watch.log.messages().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_changes_is_written_once_a_second() {
    let mut watch = Watch::new("status.json");
    let file = watch.file("status.json");
    until("the first one", || file.exists()).await;
    let mut texts = std::collections::BTreeSet::new();
    let mut snapshot = sample::well();
    for at in 0..100 {
        snapshot.status.objects[0].writes = at;
        watch.shown.publish(snapshot.clone());
        tokio::time::advance(Duration::from_millis(50)).await;
        std::thread::sleep(Duration::from_millis(2));
        tokio::task::yield_now().await;
        texts.insert(fs::read_to_string(&file).expect("always whole"));
    }
    texts.iter().for_each(|text| drop(json::read(text).expect("always whole")));
    assert!(texts.len() <= 7, "{} writes in five seconds", texts.len());
    watch.end().await;
    let last = json::read(&fs::read_to_string(&file).expect("read")).expect("a document");
    assert_eq!(last.summary.objects, 2);
    assert!(last.objects.iter().any(|object| object.writes == 99), "the last state is not lost");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_written_is_told_once_and_stops_nothing() {
    let mut watch = Watch::new("missing/status.json");
    until("the complaint", || !watch.log.messages().is_empty()).await;
    let mut snapshot = sample::well();
    for at in 0..20 {
        snapshot.status.objects[0].writes = at;
        watch.shown.publish(snapshot.clone());
        tokio::time::advance(Duration::from_secs(5)).await;
        std::thread::sleep(Duration::from_millis(2));
        tokio::task::yield_now().await;
    }
    assert_eq!(watch.log.messages(), ["status file cannot be written"]);
    fs::create_dir(watch.file("missing")).expect("made");
    until("the file", || {
        watch.shown.alive();
        watch.log.messages().len() == 2
    })
    .await;
    assert_eq!(watch.log.messages()[1], "status file is written again");
    assert!(watch.file("missing/status.json").exists());
    watch.end().await;
}

/// A device, a link, a pipe or somebody's manifest in its place stays what it is; the watch goes on.
#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn what_is_no_status_file_is_not_replaced() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::write(at("manifest.yaml"), "apiVersion: demo\n").expect("a file");
    fs::write(at("other.json"), "{\"schemaVersion\": 1, \"command\": \"plan\"}").expect("a file");
    symlink(at("manifest.yaml"), at("link")).expect("a link");
    let _socket = UnixListener::bind(at("socket")).expect("a socket");
    for (name, why) in [
        ("manifest.yaml", "it is a file, and no status: name another, or remove it"),
        ("other.json", "it is a file, and no status: name another, or remove it"),
        ("link", "it is a link: name the file itself"),
        ("socket", "it is not a regular file"),
    ] {
        let log = Log::default();
        let kept = log.clone();
        let shown = Shown::new(Instant::now(), Secrets::default());
        shown.publish(sample::snapshot());
        let stop = CancellationToken::new();
        stop.cancel();
        let before = fs::symlink_metadata(at(name)).expect("it is there");
        keep(shown, at(name), move |event| kept.0.lock().expect("it is whole").push(event), stop).await;
        let after = fs::symlink_metadata(at(name)).expect("it is there");
        assert_eq!((number(&before), before.len()), (number(&after), after.len()), "{name}");
        let told = log.0.lock().expect("it is whole").clone();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].fields[1].1, why, "{name}");
    }
    fs::write(at("empty"), "").expect("a file");
    may_begin(&at("empty")).expect("nothing is lost");
    replace(&at("new"), json::document(&sample::document(&sample::well())).as_bytes())
        .expect("it is written");
    may_begin(&at("new")).expect("a status of before");
}

/// Two watches that were given one file: each says so, and none keeps alive what the other wrote.
#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn another_process_that_writes_the_same_file_is_told_of() {
    let mut watch = Watch::new("status.json");
    watch.shown.publish(sample::well());
    watch.shown.alive();
    tokio::time::sleep(GAP * 2).await;
    let path = watch.file("status.json");
    let other = json::document(&sample::document(&sample::snapshot()));
    replace(&path, other.as_bytes()).expect("it is written");
    watch.shown.alive();
    tokio::time::sleep(HEARTBEAT).await;
    assert_ne!(fs::read_to_string(&path).expect("it is there"), other, "it is written anew, and not touched");
    replace(&path, other.as_bytes()).expect("it is written");
    watch.shown.alive();
    tokio::time::sleep(HEARTBEAT * 2).await;
    watch.end().await;
    assert_eq!(watch.log.messages(), ["status file is written by another process as well"], "once");
}

#[test]
fn a_file_that_would_be_read_as_a_manifest_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    for name in ["m/sub", "m/.git", "beside"] {
        fs::create_dir_all(path(name)).expect("it is ours");
    }
    fs::write(path("m/a.yaml"), "").expect("it is ours");
    std::os::unix::fs::symlink(path("m"), path("link")).expect("it is ours");
    let roots = [path("none"), path("m")];
    for name in ["m/s.json", "m/sub/s.yml", "m/../m/s.yaml", "link/s.json"] {
        assert_eq!(read_by(&path(name), &roots), Some(&roots[1]), "{name}");
    }
    for name in ["m/s.status", "m/.s.json", "m/.git/s.json", "beside/s.json", "m.json", "none/s.json"] {
        assert_eq!(read_by(&path(name), &roots), None, "{name}");
    }
    let file = [path("m/a.yaml")];
    assert_eq!(read_by(&path("m/a.yaml"), &file), Some(&file[0]));
    assert_eq!(read_by(&path("m/s.json"), &file), None);
}
