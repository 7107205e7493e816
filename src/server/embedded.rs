//! The server in process, for `url: embedded:PATH`: one instance for each path, shared by all who open it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, Weak};

use bytes::Bytes;
use http::{Request, Response};

use super::api::{Opened, Server};
use super::store::{Durability, OpenError, Store};

/// What is open in this process. It owns the servers, so that closing one and opening it anew cannot overlap.
static OPEN: LazyLock<Mutex<HashMap<PathBuf, Entry>>> = LazyLock::new(Mutex::default);

struct Entry {
    server: Arc<Server>,
    handles: usize,
}

/// A handle to the server of a path. The last one to go closes the store.
#[derive(Debug)]
pub struct Embedded {
    path: PathBuf,
    server: Weak<Server>,
}

impl Embedded {
    /// Opens the store in the folder `path`, which is made on first use.
    pub fn open(path: &Path) -> Result<Embedded, OpenError> {
        let failed = |source| OpenError::Io { path: path.to_owned(), source };
        std::fs::create_dir_all(path).map_err(failed)?;
        let place = path.canonicalize().map_err(failed)?;
        let mut open = registry();
        if !open.contains_key(&place) {
            let server = Arc::new(Server::new(Store::open(path, Durability::Sync)?));
            open.insert(place.clone(), Entry { server, handles: 0 });
        }
        let opened = open.get_mut(&place).expect("it was there or has been put there");
        opened.handles += 1;
        Ok(Embedded { server: Arc::downgrade(&opened.server), path: place })
    }

    /// Answers a request. A write is durable when this returns.
    pub async fn call(&self, request: Request<Bytes>) -> Response<Bytes> {
        let server = self.server.upgrade().expect("a server is open while it has a handle");
        server.call(request).await
    }

    /// Answers a request; a stream of the change feed as it comes. It ends when the store closes.
    pub async fn open_answer(&self, request: Request<Bytes>) -> Opened {
        let server = self.server.upgrade().expect("a server is open while it has a handle");
        server.open(request).await
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        let mut open = registry();
        let Some(opened) = open.get_mut(&self.path) else { return };
        opened.handles -= 1;
        if opened.handles == 0 {
            open.remove(&self.path);
        }
    }
}

fn registry() -> MutexGuard<'static, HashMap<PathBuf, Entry>> {
    OPEN.lock().expect("nothing panics while it holds the registry")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn get(server: &Embedded, path: &str) -> u16 {
        let request = Request::get(path).body(Bytes::new()).expect("a request");
        server.call(request).await.status().as_u16()
    }

    #[tokio::test]
    async fn handles_of_one_path_share_a_server_and_the_last_one_closes_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b");
        let first = Embedded::open(&path).expect("the first handle makes the folder");
        let second = Embedded::open(&folder.path().join("a/../a/b")).expect("the second one shares it");
        let put = Request::put("/teams/a").body(Bytes::from("{}")).expect("a request");
        assert_eq!(first.call(put).await.status().as_u16(), 201);
        drop(first);
        assert_eq!(get(&second, "/teams/a").await, 200);
        drop(second);
        let store = Store::open(&path, Durability::Sync).expect("it was closed");
        let Err(error) = Embedded::open(&path) else { panic!("two owners of one store") };
        assert!(error.to_string().ends_with("it is in use by another process"), "{error}");
        drop(store);
        assert_eq!(get(&Embedded::open(&path).expect("opened again"), "/teams/a").await, 200);
    }
}
