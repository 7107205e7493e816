//! What moves while work goes on: a bar on standard error for a person who waits, nothing for anyone else.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Is told how far the work is. Called often, from any thread; the last call of a phase has `done == total`.
pub trait Progress: Send + Sync {
    /// Objects of which it is known how they are on the server.
    fn observing(&self, done: usize, total: usize);
    /// Objects that are settled, of those that need a write.
    fn applying(&self, done: usize, total: usize);
    /// Takes the bar away; before anything else is printed.
    fn clear(&self);
}

/// Says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn observing(&self, _done: usize, _total: usize) {}
    fn applying(&self, _done: usize, _total: usize) {}
    fn clear(&self) {}
}

/// A bar on standard error.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
}

/// A bar, or silence when nobody would see it: `visible` is whether standard error is a terminal and neither
/// `-q` nor a machine's format was asked for.
pub fn progress(visible: bool) -> Box<dyn Progress> {
    if !visible {
        return Box::new(Silent);
    }
    let bar = Bar::new(ProgressDrawTarget::stderr());
    bar.bar.enable_steady_tick(Duration::from_millis(120));
    Box::new(bar)
}

impl Bar {
    /// A bar on a target of one's own, which moves when it is told something.
    pub fn new(target: ProgressDrawTarget) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = "{spinner:.cyan} {msg} [{bar:24}] {pos}/{len}";
        let style = ProgressStyle::with_template(style).expect("the template is well formed");
        bar.set_style(style.progress_chars("=> "));
        bar.set_message("observing");
        Bar { bar }
    }

    fn show(&self, phase: &'static str, done: usize, total: usize) {
        self.bar.set_message(phase);
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }
}

impl Progress for Bar {
    fn observing(&self, done: usize, total: usize) {
        self.show("observing", done, total);
    }

    fn applying(&self, done: usize, total: usize) {
        self.show("applying", done, total);
    }

    fn clear(&self) {
        self.bar.disable_steady_tick();
        self.bar.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::TermLike;
    use std::io;
    use std::sync::{Arc, Mutex};

    /// A terminal of one line that remembers what was last written to it.
    #[derive(Clone, Debug, Default)]
    struct OneLine(Arc<Mutex<String>>);

    impl OneLine {
        fn text(&self) -> String {
            self.0.lock().expect("no thread panics").trim().to_owned()
        }
    }

    impl TermLike for OneLine {
        fn width(&self) -> u16 {
            60
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().expect("no thread panics").push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            self.0.lock().expect("no thread panics").clear();
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_bar_tells_phase_and_numbers_and_goes_away() {
        let line = OneLine::default();
        let bar = Bar::new(ProgressDrawTarget::term_like(Box::new(line.clone())));
        bar.observing(3, 12);
        bar.bar.force_draw();
        assert!(line.text().contains("observing [======>"), "{}", line.text());
        assert!(line.text().ends_with("3/12"), "{}", line.text());
        bar.applying(1, 2);
        bar.bar.force_draw();
        assert!(line.text().contains("applying"), "{}", line.text());
        assert!(line.text().ends_with("1/2"), "{}", line.text());
        bar.clear();
        assert_eq!(line.text(), "");
    }
}
