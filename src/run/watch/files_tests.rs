//! Changes as the system tells of them, and as a look finds them: folders, files, links that are swapped.

use tempfile::TempDir;
use tokio::time::timeout;

use super::*;

/// No change takes so long to be told.
const PATIENCE: Duration = Duration::from_secs(20);

struct Stage {
    folder: TempDir,
    watched: Watched,
    named: BTreeSet<PathBuf>,
}

impl Stage {
    /// Watches `root` below a folder of its own, which `make` fills first.
    fn new(root: &str, make: impl Fn(&Path)) -> Stage {
        let folder = tempfile::tempdir().expect("a scratch folder");
        make(folder.path());
        let watched = Watched::new(vec![folder.path().join(root)]);
        let stage = Stage { folder, watched, named: BTreeSet::new() };
        stage.read();
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self) {
        let (roots, named) = (self.watched.roots(), self.named.clone());
        let look = Look::of(&roots, &named);
        self.watched.read(&AsRead { roots, named, look });
    }

    /// A change must be told of; then the files are read again.
    async fn hears(&mut self, what: &str) {
        let news = timeout(PATIENCE, self.watched.next()).await;
        assert!(matches!(news, Ok(News::Changed)), "{what}: {news:?}");
        self.read();
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("the file can be written");
}

#[tokio::test]
async fn changes_below_a_folder() {
    let mut stage = Stage::new("m", |at| {
        fs::create_dir_all(at.join("m/sub")).expect("folders");
        write(&at.join("m/a.yaml"), "a");
    });
    write(&stage.path("m/a.yaml"), "aa");
    stage.hears("a file is written").await;
    write(&stage.path("m/.a.yaml.swp"), "aaa");
    fs::rename(stage.path("m/.a.yaml.swp"), stage.path("m/a.yaml")).expect("a rename");
    stage.hears("an editor renames").await;
    write(&stage.path("m/sub/b.yaml"), "b");
    stage.hears("a file below a folder").await;
    fs::create_dir(stage.path("m/new")).expect("a folder");
    write(&stage.path("m/new/c.yaml"), "c");
    stage.hears("a file in a new folder").await;
    write(&stage.path("m/new/c.yaml"), "cc");
    stage.hears("a change in the new folder").await;
    fs::remove_file(stage.path("m/a.yaml")).expect("it is there");
    stage.hears("a file is removed").await;
}

#[tokio::test]
async fn a_file_and_what_it_names() {
    let mut stage = Stage::new("a.yaml", |at| {
        write(&at.join("a.yaml"), "a");
        fs::create_dir(at.join("secrets")).expect("a folder");
    });
    write(&stage.path("a.yaml"), "aa");
    stage.hears("the file").await;
    stage.named.insert(stage.path("secrets/token"));
    stage.read();
    write(&stage.path("secrets/token"), "x");
    stage.hears("a secret appears").await;
}

/// As a ConfigMap is mounted: a link to a link to a folder, of which the one in the middle is replaced.
#[cfg(unix)]
#[tokio::test]
async fn a_link_that_is_swapped() {
    use std::os::unix::fs::symlink;
    let mut stage = Stage::new("m", |at| {
        for (folder, text) in [("m/..1", "one"), ("m/..2", "two")] {
            fs::create_dir_all(at.join(folder)).expect("folders");
            write(&at.join(folder).join("a.yaml"), text);
        }
        symlink("..1", at.join("m/..data")).expect("a link");
        symlink("..data/a.yaml", at.join("m/a.yaml")).expect("a link");
    });
    symlink("..2", stage.path("m/..tmp")).expect("a link");
    fs::rename(stage.path("m/..tmp"), stage.path("m/..data")).expect("a rename");
    stage.hears("the link").await;
    write(&stage.path("m/..2/a.yaml"), "changed");
    stage.hears("a change behind the links").await;
}

/// Files that stand elsewhere, by links of their own: they are written there, and the links on the way are swapped.
#[cfg(unix)]
#[tokio::test]
async fn links_to_files_and_folders_elsewhere() {
    use std::os::unix::fs::symlink;
    let mut stage = Stage::new("m", |at| {
        for (folder, text) in [("1", "one"), ("2", "two")] {
            fs::create_dir_all(at.join("elsewhere").join(folder).join("sub")).expect("folders");
            write(&at.join("elsewhere").join(folder).join("a.yaml"), text);
            write(&at.join("elsewhere").join(folder).join("sub/b.yaml"), text);
        }
        fs::create_dir(at.join("m")).expect("a folder");
        symlink("1", at.join("elsewhere/current")).expect("a link");
        symlink("../elsewhere/current/a.yaml", at.join("m/a.yaml")).expect("a link");
        symlink("../elsewhere/current/sub", at.join("m/sub")).expect("a link");
        // One that leads to itself, and one that leads nowhere.
        symlink("loop.yaml", at.join("m/loop.yaml")).expect("a link");
        symlink("nowhere.yaml", at.join("m/lost.yaml")).expect("a link");
    });
    write(&stage.path("elsewhere/1/a.yaml"), "changed");
    stage.hears("the file").await;
    write(&stage.path("elsewhere/1/sub/b.yaml"), "changed");
    stage.hears("a file in the folder").await;
    symlink("2", stage.path("elsewhere/next")).expect("a link");
    fs::rename(stage.path("elsewhere/next"), stage.path("elsewhere/current")).expect("a rename");
    stage.hears("the link on the way").await;
    write(&stage.path("elsewhere/2/a.yaml"), "changed");
    stage.hears("the file behind it").await;
    write(&stage.path("m/nowhere.yaml"), "there");
    stage.hears("what a link leads to").await;
}

/// What is watched is a folder, and not its path.
#[tokio::test]
async fn a_folder_in_the_place_of_another() {
    let mut stage = Stage::new("m", |at| {
        for folder in ["m", "new"] {
            fs::create_dir(at.join(folder)).expect("a folder");
            write(&at.join(folder).join("a.yaml"), folder);
        }
    });
    fs::rename(stage.path("m"), stage.path("old")).expect("a rename");
    fs::rename(stage.path("new"), stage.path("m")).expect("a rename");
    stage.hears("the other folder").await;
    write(&stage.path("m/a.yaml"), "changed");
    stage.hears("a change in the other folder").await;
}

/// As releases are deployed: a link on the way to the files is put elsewhere.
#[cfg(unix)]
#[tokio::test]
async fn a_link_above_the_files() {
    use std::os::unix::fs::symlink;
    let mut stage = Stage::new("current/m", |at| {
        for (folder, text) in [("1", "one"), ("2", "two")] {
            fs::create_dir_all(at.join(folder).join("m")).expect("folders");
            write(&at.join(folder).join("m/a.yaml"), text);
        }
        symlink("1", at.join("current")).expect("a link");
    });
    symlink("2", stage.path("next")).expect("a link");
    fs::rename(stage.path("next"), stage.path("current")).expect("a rename");
    stage.hears("the link").await;
    write(&stage.path("2/m/a.yaml"), "changed");
    stage.hears("a change behind the link").await;
}

/// Where the system tells nothing, a look does.
#[tokio::test(start_paused = true)]
async fn a_system_that_tells_nothing() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let root = folder.path().join("a.yaml");
    write(&root, "a");
    let mut files = Files::new(vec![root.clone()]);
    files.watcher = None;
    files.seen = Look::of(std::slice::from_ref(&root), &BTreeSet::new());
    let changed = files.changed();
    tokio::pin!(changed);
    assert!(timeout(SCAN_ALONE * 3, &mut changed).await.is_err(), "nothing has changed");
    write(&root, "aa");
    assert!(timeout(SCAN_ALONE * 3, &mut changed).await.is_ok());
}
