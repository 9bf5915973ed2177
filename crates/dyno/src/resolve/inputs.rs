//! What a plan is made from, whichever command asks for it.

use super::Aim;
use crate::args::bench::{BenchArgs, LoadArgs, RequestArgs};
use crate::args::capacity::{CapacityArgs, CapacitySearch};
use crate::args::course::CourseArgs;
use crate::args::plan::{PlanArgs, ServerArgs};
use crate::args::predict::PredictArgs;
use crate::args::versus::VersusArgs;

/// The arguments of `bench`, `predict` or `capacity`. What a command does not have has its default.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) plan: PlanArgs,
    pub(crate) server: ServerArgs,
    pub(crate) load: LoadArgs,
    pub(crate) course: CourseArgs,
    /// The load is searched for.
    pub(crate) search: Option<CapacitySearch>,
    pub(crate) versus: VersusArgs,
    pub(crate) aim: Aim,
}

impl From<BenchArgs> for Inputs {
    fn from(args: BenchArgs) -> Self {
        let BenchArgs { load, course, plan, server, versus } = args;
        Self { plan, server, load, course, search: None, versus, aim: Aim::Measure }
    }
}

impl From<PredictArgs> for Inputs {
    fn from(args: PredictArgs) -> Self {
        let PredictArgs { twin, versus, load, course, api, no_stream, plan } = args;
        let request = RequestArgs { api, no_stream, ..RequestArgs::default() };
        let server = ServerArgs { twin, request, ..ServerArgs::default() };
        let versus = VersusArgs { versus, ..VersusArgs::default() };
        Self { plan, server, load, course, search: None, versus, aim: Aim::Predict }
    }
}

impl From<CapacityArgs> for Inputs {
    fn from(args: CapacityArgs) -> Self {
        let CapacityArgs { predict, search, plan, server } = args;
        let max_concurrency = search.max_concurrency;
        Self {
            plan,
            server,
            load: LoadArgs { max_concurrency, ..LoadArgs::default() },
            course: CourseArgs::default(),
            search: Some(search),
            versus: VersusArgs::default(),
            aim: if predict { Aim::Predict } else { Aim::Measure },
        }
    }
}
