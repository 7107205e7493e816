//! A real Git repository in a scratch folder, for what has a base.

use std::path::Path;
use std::process::Command;

use crate::support::{Done, Scratch};

/// The built-in server, its store at a path from the folder of the document.
pub fn backend(store: &str) -> String {
    format!(
        "apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: shop}}\nspec: {{url: \"embedded:{store}\"}}\n"
    )
}

/// A document of the built-in server.
pub fn document(kind: &str, name: &str, spec: &str) -> String {
    format!("apiVersion: shop\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

/// A folder `repo` with `m/backend.yaml`, under Git; its objects are kept beside the repository.
pub struct Repository(pub Scratch);

impl Repository {
    pub fn new() -> Repository {
        let repository = Repository(Scratch::with("repo/m/backend.yaml", backend("../../store")));
        repository.git("init --quiet --initial-branch=main .");
        repository
    }

    /// With these documents committed and applied: what the server and the base agree on.
    pub fn applied(file: &str, text: &str) -> Repository {
        let repository = Repository::new();
        repository.commit(file, text);
        repository.run("apply --yes -f m").expect(0);
        repository
    }

    pub fn write(&self, file: &str, text: &str) {
        self.0.write(&format!("repo/{file}"), text);
    }

    pub fn commit(&self, file: &str, text: &str) {
        self.write(file, text);
        self.commit_all();
    }

    pub fn commit_all(&self) {
        self.git("add --all");
        self.git("commit --quiet --message x");
    }

    pub fn path(&self) -> std::path::PathBuf {
        self.0.path("repo")
    }

    pub fn git(&self, line: &str) -> String {
        git(&self.path(), line)
    }

    /// What somebody else does on the server.
    pub fn foreign(&self, text: &str) {
        self.0.write("foreign/backend.yaml", backend("../store"));
        self.0.write("foreign/all.yaml", text);
        self.0.trueup("apply --yes -f foreign").done().expect(0);
    }

    /// The binary, in the repository.
    pub fn run(&self, line: &str) -> Done {
        self.0.trueup(line).inside("repo").done()
    }
}

pub fn git(folder: &Path, line: &str) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"])
        .args(line.split_whitespace())
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
