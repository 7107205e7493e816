//! Which folders are lost, and what of that is held.

use tempfile::TempDir;

use super::super::desired::Source;
use super::*;

const BACKEND: &str = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: demo}\nspec: {url: \"http://127.0.0.1:1\", \
    kinds: {Team: {key: {name: .name}, list: \"GET /teams\", read: \"GET /teams/{name}\", create: \"PUT /teams/{name}\"}}}\n";
const SET: &str = "---\napiVersion: trueup/v1\nkind: Set\nmetadata: {name: all}\nspec: {scope: [{kind: Team, exclusive: true}]}\n";

struct Scene {
    folder: TempDir,
    desired: Desired,
    folders: Folders,
    now: Instant,
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Scene {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("all.yaml"), format!("{BACKEND}{SET}")).expect("it is ours");
        files.iter().for_each(|(file, team)| write(&folder, file, team));
        let desired = load(&folder);
        Scene { folder, desired, folders: Folders::default(), now: Instant::now() }
    }

    fn gone(&self, path: &str) {
        let path = self.folder.path().join(path);
        match path.is_dir() {
            true => std::fs::remove_dir_all(path).expect("it is ours"),
            false => std::fs::remove_file(path).expect("it is ours"),
        }
    }

    /// The files are read: which folders are held, each with the names of its objects.
    fn read(&mut self) -> Vec<(String, Vec<String>)> {
        let before = std::mem::replace(&mut self.desired, load(&self.folder));
        let mut read = self.folders.clone();
        read.wanted(&before, &self.desired, &[self.folder.path().to_owned()], self.now);
        self.folders.take(read);
        self.held()
    }

    fn held(&self) -> Vec<(String, Vec<String>)> {
        let Held(all) = self.folders.held(&self.desired.claimed(true), &self.desired);
        let name = |folder: &str| {
            let folder = Path::new(folder).strip_prefix(self.folder.path()).expect("it is below");
            folder.display().to_string()
        };
        let told = |(folder, ids): (String, Vec<ObjectId>)| {
            (name(&folder), ids.iter().map(|id| id.key.to_string()).collect())
        };
        all.into_iter().map(told).collect()
    }
}

fn write(folder: &TempDir, file: &str, team: &str) {
    let path = folder.path().join(file);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is ours");
    let text = format!("apiVersion: demo\nkind: Team\nmetadata: {{name: {team}}}\nspec: {{a: 1}}\n");
    std::fs::write(path, text).expect("it is ours");
}

fn load(folder: &TempDir) -> Desired {
    let source = Source { files: vec![folder.path().to_owned()], ..Source::default() };
    source.load_once().read.unwrap_or_else(|wrong| panic!("{}", wrong.problems[0])).desired
}

fn held(folder: &str, names: &[&str]) -> Vec<(String, Vec<String>)> {
    vec![(folder.to_owned(), names.iter().map(|name| (*name).to_owned()).collect())]
}

#[test]
fn a_folder_that_has_no_documents_any_more_is_held_until_it_is_agreed_to() {
    let mut scene = Scene::new(&[("sub/x/a.yaml", "a"), ("sub/y/b.yaml", "b"), ("c.yaml", "c")]);
    assert_eq!(scene.read(), []);
    std::fs::create_dir(scene.folder.path().join("sub/empty")).expect("it is ours");
    scene.gone("sub/x");
    scene.gone("sub/y");
    assert_eq!(scene.read(), held("sub", &["a", "b"]), "by the name of all that is lost");
    assert_eq!(scene.read(), held("sub", &["a", "b"]), "time alone says nothing");
    let sentence = &scene.folders.held(&scene.desired.claimed(true), &scene.desired).sentences()[0];
    assert!(sentence.contains("sub` declared 2 objects and has no document any more"), "{sentence}");
    assert_eq!(scene.folders.agree().len(), 1);
    assert_eq!((scene.held(), scene.read()), (vec![], vec![]));
    // It comes back, and goes again: that is another loss.
    write(&scene.folder, "sub/x/a.yaml", "a");
    assert_eq!(scene.read(), []);
    scene.gone("sub/x/a.yaml");
    assert_eq!(scene.read(), held("sub", &["a"]));
}

#[test]
fn what_leaves_a_folder_that_has_others_is_a_wish() {
    let mut scene = Scene::new(&[("sub/a.yaml", "a"), ("sub/b.yaml", "b")]);
    scene.gone("sub/a.yaml");
    assert_eq!(scene.read(), []);
    // A minute later the other one goes: what went before was meant.
    scene.now += MEANWHILE;
    scene.gone("sub/b.yaml");
    assert_eq!(scene.read(), held("sub", &["b"]));
    write(&scene.folder, "elsewhere/b.yaml", "b");
    assert_eq!(scene.read(), [], "it stands elsewhere");
}

#[test]
fn a_folder_whose_files_go_one_by_one_is_lost_as_a_whole() {
    let mut scene = Scene::new(&[("sub/a.yaml", "a"), ("sub/b.yaml", "b"), ("sub/c.yaml", "c")]);
    scene.gone("sub/a.yaml");
    assert_eq!(scene.read(), []);
    scene.gone("sub");
    assert_eq!(scene.read(), held("sub", &["a", "b", "c"]));
    // It is there again, without one of them: that one was meant.
    write(&scene.folder, "sub/b.yaml", "b");
    assert_eq!(scene.read(), []);
}

#[test]
fn what_is_agreed_to_while_the_files_are_read_stays_so() {
    let mut scene = Scene::new(&[("sub/a.yaml", "a")]);
    scene.gone("sub/a.yaml");
    assert_eq!(scene.read(), held("sub", &["a"]));
    let read = scene.folders.clone();
    scene.folders.agree();
    assert_eq!(scene.folders.take(read), [""; 0].map(PathBuf::from));
    assert_eq!(scene.held(), []);
}

#[test]
fn what_no_set_claims_is_not_told() {
    let mut scene = Scene::new(&[("sub/a.yaml", "a"), ("b.yaml", "b")]);
    std::fs::write(scene.folder.path().join("all.yaml"), BACKEND).expect("it is ours");
    scene.gone("sub/a.yaml");
    assert_eq!(scene.read(), []);
}
