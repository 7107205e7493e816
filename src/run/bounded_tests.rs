use super::*;

fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    command
}

#[test]
fn a_command_says_what_it_says_bounded_or_not() {
    let line = "cat; echo b >&2; exit 3";
    let input = vec![b'a'; 1 << 20];
    for bound in [None, Some(Bound::new(Duration::from_secs(60)))] {
        let run = || output(shell(line), input.clone()).expect("it runs");
        let done = bound.map_or_else(run, |bound| bound.around(run));
        assert_eq!((done.stdout.len(), &*done.stderr, done.status.code()), (1 << 20, &b"b\n"[..], Some(3)));
    }
}

#[test]
fn one_that_hangs_is_killed_with_its_children() {
    let folder = tempfile::tempdir().expect("a folder");
    let pid = folder.path().join("pid");
    let line = format!("sleep 600 & echo $! > {}; wait", pid.display());
    let bound = Bound::new(Duration::from_millis(500));
    let error = bound.around(|| output(shell(&line), Vec::new())).expect_err("it hangs");
    assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
    let pid = std::fs::read_to_string(pid).expect("it was begun");
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let end = Instant::now() + Duration::from_secs(30);
    // One that is killed may have to be given a turn to go.
    while !state().is_empty() && !state().contains(") Z ") {
        assert!(Instant::now() < end, "{}", state());
        thread::sleep(PULSE);
    }
    assert_eq!(bound.running.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn whoever_waits_for_it_ends_it() {
    let bound = Bound::new(Duration::from_secs(600));
    let (of, began) = (bound.clone(), Instant::now());
    let task = tokio::task::spawn_blocking(move || of.around(|| output(shell("sleep 600"), Vec::new())));
    while bound.running.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(PULSE).await;
    }
    bound.ended().await;
    let error = task.await.expect("no panic").expect_err("it was ended");
    assert_eq!(error.kind(), io::ErrorKind::Interrupted, "{error}");
    assert!(began.elapsed() < Duration::from_secs(300));
    let after = bound.around(|| output(shell("exit 0"), Vec::new()));
    assert!(after.is_err(), "none begins after that");
}
