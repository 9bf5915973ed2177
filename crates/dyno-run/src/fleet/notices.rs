//! What an agent on a bus tells its user.

use dyno_fleet::nats::Notice;
use std::sync::atomic::{AtomicBool, Ordering};

/// Leaves out that the agent is free again where it takes part in one run alone: it ends then.
pub(super) fn told_once(
    once: bool,
    tell: impl Fn(Notice) + Send + 'static,
) -> impl Fn(Notice) + Send + 'static {
    let engaged = AtomicBool::new(false);
    move |notice| match notice {
        Notice::Free if once && engaged.load(Ordering::Relaxed) => {}
        notice => {
            let is_engaged = matches!(notice, Notice::Engaged { .. });
            engaged.fetch_or(is_engaged, Ordering::Relaxed);
            tell(notice);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn an_agent_for_one_run_does_not_say_that_it_waits_for_another() {
        let engaged = || Notice::Engaged { run: "r".to_owned() };
        let told = |once| {
            let (tell, said) = mpsc::channel();
            let tell = told_once(once, move |notice| tell.send(notice).unwrap());
            let happens =
                [Notice::Free, Notice::Interrupted, Notice::Back, engaged(), Notice::Free];
            happens.into_iter().for_each(&tell);
            drop(tell);
            said.into_iter().collect::<Vec<_>>()
        };
        let once = vec![Notice::Free, Notice::Interrupted, Notice::Back, engaged()];
        assert_eq!(told(true), once);
        assert_eq!(told(false), [once, vec![Notice::Free]].concat());
    }
}
