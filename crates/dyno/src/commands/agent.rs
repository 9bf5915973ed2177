//! `dyno agent`: a load generator that takes orders.

use crate::args::fleet::AgentArgs;
use crate::exit::Exit;
use crate::printer::Printer;
use dyno_run::Reach;
use dyno_run::fleet::{Agent, serve_child};

pub(crate) fn run(args: &AgentArgs, printer: &Printer) -> Exit {
    let Some(name) = &args.child else {
        printer.error("an agent needs a coordinator: `dyno bench URL --agents N` starts its own");
        return Exit::Usage;
    };
    let agent = Agent::child(name.clone(), Reach::default());
    match serve_child(&agent) {
        Ok(()) => Exit::Fine,
        Err(error) => {
            printer.error(error);
            Exit::Bug
        }
    }
}
