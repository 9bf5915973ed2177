//! How many load generators a plan needs on this machine: `--agents auto`. A decision from numbers only;
//! nothing is measured or started here.

use dyno_model::level_schedule::{Over, Range, Search};
use dyno_model::message::clauses;
use dyno_model::plan::{LengthSpec, LevelPlan, Load, Plan, Warmup};
use dyno_model::{Message, message};
use dyno_workload::random::lengths::Lengths;

/// Streamed tokens per second that one process times accurately: measured on one core, with a token
/// per packet.
pub const TOKENS_PER_S: f64 = 120_000.0;
/// Streams that one process holds: beyond them, opening and timing take more than one core gives.
pub const STREAMS: u64 = 28_000;
/// Tokens per second that a stream of a closed loop is assumed to get, before any response is known: what
/// people read comfortably, and what servers under load are tuned for.
pub const TOKENS_PER_STREAM: f64 = 30.0;
/// How long a request of an open loop is assumed to take, before any response is known.
const LATENCY_S: f64 = 10.0;
/// Open files of a process other than its connections, with some reserve.
const OTHER_FILES: u64 = 64;

/// What is available to load generators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// CPUs that this process may use.
    pub cpus: usize,
    /// The server runs on this machine, too.
    pub server_here: bool,
    /// Open files that a process may have; absent: unlimited.
    pub open_files: Option<u64>,
    /// Local ports from one address of this machine to the server; absent: unknown.
    pub ports: Option<u64>,
    /// Addresses that connections are opened from; all load generators share them and their ports.
    pub sources: usize,
}

/// How many load generators there should be, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// How many; at least one.
    pub agents: u32,
    /// The most streams of any level, as far as the plan says.
    pub streams: Option<u64>,
    /// The highest rate of output tokens of any level, where it is known.
    pub tokens_per_s: Option<f64>,
    /// It follows from an assumed rate of each stream.
    pub assumed: bool,
    /// From how many source addresses the streams can be opened quickly, where there are fewer.
    pub sources: Option<u64>,
    /// How many the load would need, where the machine has no CPUs for them.
    pub wanted: Option<u32>,
    /// What one load generator can hold here.
    streams_each: u64,
    cpus: usize,
    server_here: bool,
}

/// The number of load generators for a plan, with an estimate of its output tokens per second if there
/// is one.
pub fn agents(plan: &Plan, tokens_per_s: Option<f64>, machine: Machine) -> Need {
    let streams = most_streams(plan);
    let planned = plan.levels.iter().filter_map(|level| tokens_of(level, plan)).reduce(f64::max);
    let closed = closed_streams(plan).map(|streams| streams as f64 * TOKENS_PER_STREAM);
    let assumed = tokens_per_s.is_none() && closed > planned;
    let tokens_per_s = tokens_per_s.or(if assumed { closed } else { planned });
    let files = machine.open_files.map_or(u64::MAX, |files| files.saturating_sub(OTHER_FILES));
    let streams_each = STREAMS.min(files).max(1);
    let by_streams = streams.map_or(1, |streams| streams.div_ceil(streams_each));
    let by_tokens = tokens_per_s.map_or(1, |rate| (rate / TOKENS_PER_S).ceil() as u64);
    let wanted = u32::try_from(by_streams.max(by_tokens).max(1)).unwrap_or(u32::MAX);
    // One CPU for the coordinator and the system, one for the server.
    let taken = if machine.server_here { 2 } else { 1 };
    let room = u32::try_from(machine.cpus.saturating_sub(taken).max(1)).unwrap_or(u32::MAX);
    // The system gives out every other port first. Once these are taken, it tries them all in vain for
    // each connection, which takes a hundred times as long.
    let quick = machine.ports.map(|ports| (ports / 2).max(1));
    let addresses = streams.zip(quick).map(|(streams, ports)| streams.div_ceil(ports));
    Need {
        agents: wanted.min(room),
        streams,
        tokens_per_s,
        assumed,
        sources: addresses.filter(|needed| *needed > machine.sources.max(1) as u64),
        wanted: (wanted > room).then_some(wanted),
        streams_each,
        cpus: machine.cpus,
        server_here: machine.server_here,
    }
}

/// The most streams at the same time in any level, also in those that a search may choose.
fn most_streams(plan: &Plan) -> Option<u64> {
    let planned = plan.levels.iter().filter_map(streams_of);
    let searched = searched(plan).map(|most| match most {
        (Over::Rate, most) => (most * LATENCY_S).ceil() as u64,
        (Over::Concurrency, most) => most.ceil() as u64,
    });
    planned.chain(searched).max()
}

/// A process cannot open as many connections as a plan needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooFewFiles {
    /// Connections that it needs at once.
    pub(crate) streams: u64,
    /// How many it can open.
    pub(crate) allowed: u64,
    /// The limit of open files that would do.
    pub(crate) files: u64,
    /// The number of load generators that would.
    pub(crate) agents: u64,
}

/// Whether a process can open the connections of a plan, if it may have so many files open. Only what is sure
/// counts: an open loop may stay below any number, unless its own limit says otherwise.
pub(crate) fn too_few_files(plan: &Plan, open_files: Option<u64>) -> Option<TooFewFiles> {
    let agents = match &plan.fleet {
        // The limits of other machines are not known here.
        Some(fleet) if fleet.bus => return None,
        Some(fleet) => u64::from(fleet.agents.max(1)),
        None => 1,
    };
    if plan.target.predicted {
        return None;
    }
    let sure = |level: &LevelPlan| match level.load {
        Load::Concurrency { .. } | Load::Burst { .. } => {
            let warmup = match level.warmup {
                Some(Warmup::Requests(requests)) => requests,
                _ => 0,
            };
            let sent = level.requests.map_or(u64::MAX, |requests| requests.saturating_add(warmup));
            streams_of(level).map(|streams| streams.min(sent))
        }
        _ => streams_of(level).filter(|_| level.max_concurrency.is_some()),
    };
    let streams = plan.levels.iter().filter_map(sure).max()?.div_ceil(agents);
    // The embedded engine has the other end of each connection in the same process.
    let ends = if plan.target.url.is_none() && agents == 1 { 2 } else { 1 };
    let allowed = open_files?.saturating_sub(OTHER_FILES) / ends;
    (streams > allowed).then(|| TooFewFiles {
        streams,
        allowed,
        files: streams.saturating_mul(ends).saturating_add(OTHER_FILES),
        agents: agents.saturating_mul(streams.div_ceil(allowed.max(1))),
    })
}

/// The highest load that a search may try.
fn searched(plan: &Plan) -> Option<(Over, f64)> {
    match *plan.course.search.as_ref()? {
        Search::Ladder { most, .. } => Some((Over::Concurrency, f64::from(most))),
        Search::Capacity { over, range, .. } => match range {
            Range::Between([_, most]) => Some((over, most)),
            // It looks on both sides of it.
            Range::Near(near) => Some((over, near * 2.0)),
            Range::Unknown => None,
        },
        Search::Sweep { .. } => None,
    }
}

/// The most streams of closed loops and bursts, where responses are streamed: their tokens per second depend
/// on the server.
fn closed_streams(plan: &Plan) -> Option<u64> {
    let closed =
        |level: &&LevelPlan| matches!(level.load, Load::Concurrency { .. } | Load::Burst { .. });
    let planned = plan.levels.iter().filter(closed).filter_map(streams_of);
    let searched = searched(plan).filter(|(over, _)| *over == Over::Concurrency);
    let most = planned.chain(searched.map(|(_, most)| most.ceil() as u64)).max();
    most.filter(|_| is_streamed(plan))
}

fn is_streamed(plan: &Plan) -> bool {
    plan.request.task.generates() && plan.request.stream
}

/// The most streams of a level. An open loop has as many as arrive while a request is answered, and
/// never more than arrive at all.
fn streams_of(level: &LevelPlan) -> Option<u64> {
    let arriving = |rate: f64, arrivals: Option<f64>| {
        let arrivals = arrivals
            .unwrap_or(f64::INFINITY)
            .min(level.requests.map_or(f64::INFINITY, |n| n as f64));
        (rate * LATENCY_S).min(arrivals).ceil() as u64
    };
    let offered = match level.load {
        Load::Concurrency { concurrency } => Some(u64::from(concurrency)),
        Load::Burst { requests } => Some(requests),
        Load::Rate { rate, .. } => {
            Some(arriving(rate, level.duration_ns.map(|time| rate * time as f64 / 1e9)))
        }
        Load::Ramp { .. } => {
            level.load.ramp().map(|ramp| arriving(ramp.top(), Some(ramp.expected())))
        }
        // Its times are in a file.
        Load::Trace { .. } => None,
    };
    match (offered, level.max_concurrency.map(u64::from)) {
        (Some(offered), Some(most)) => Some(offered.min(most)),
        (offered, most) => offered.or(most),
    }
}

/// Output tokens per second of an open loop, whose rate and lengths are planned.
fn tokens_of(level: &LevelPlan, plan: &Plan) -> Option<f64> {
    let rate = match level.load {
        Load::Rate { .. } | Load::Ramp { .. } => level.load.value(),
        _ => return None,
    };
    let LengthSpec(lengths) = &level.output_tokens;
    let lengths = Lengths::list(lengths).ok()?;
    let mean = lengths.first()?.mean();
    is_streamed(plan).then_some(rate * mean)
}

impl Need {
    /// How many, and why.
    pub fn said(&self) -> Message {
        let mut load = Vec::new();
        if let Some(streams) = self.streams {
            load.push(message!(
                "{streams} streams, up to {} for each agent",
                "{streams} 路流，每个压测端最多 {} 路",
                self.streams_each
            ));
        }
        if let Some(rate) = self.tokens_per_s {
            load.push(match self.assumed {
                true => message!(
                    "{rate:.0} tokens/s if each stream gets {TOKENS_PER_STREAM:.0}, up to \
                     {TOKENS_PER_S:.0} for each agent",
                    "每秒 {rate:.0} 个 token（假定每路 {TOKENS_PER_STREAM:.0} 个），每个压测端最多 \
                     {TOKENS_PER_S:.0} 个"
                ),
                false => message!(
                    "{rate:.0} tokens/s, up to {TOKENS_PER_S:.0} for each agent",
                    "每秒 {rate:.0} 个 token，每个压测端最多 {TOKENS_PER_S:.0} 个"
                ),
            });
        }
        if load.is_empty() {
            return message!(
                "1 agent: the plan does not say how many streams there will be; give --agents N \
                 if one is not enough",
                "1 个压测端：计划中没有说明流数；若不够，请使用 --agents N"
            );
        }
        let (agents, load, cpus) = (self.agents, clauses(load), self.cpus);
        let text = match (self.wanted, self.agents) {
            (Some(wanted), _) if self.server_here => message!(
                "{agents} agents, although the load needs {wanted} ({load}): one for each of \
                 {cpus} CPUs less one for the coordinator and one for the server",
                "{agents} 个压测端，而该负载需要 {wanted} 个（{load}）：共 {cpus} 个 CPU，每个压测\
                 端一个，另留协调进程和服务器各一个"
            ),
            (Some(wanted), _) => message!(
                "{agents} agents, although the load needs {wanted} ({load}): one for each of \
                 {cpus} CPUs less one for the coordinator",
                "{agents} 个压测端，而该负载需要 {wanted} 个（{load}）：共 {cpus} 个 CPU，每个压测\
                 端一个，另留一个给协调进程"
            ),
            (None, 1) => message!("1 agent is enough: {load}", "1 个压测端即可：{load}"),
            (None, _) => message!("{agents} agents: {load}", "{agents} 个压测端：{load}"),
        };
        match self.sources {
            Some(sources) => message!(
                "{text}; open the streams from {sources} addresses (--source-address)",
                "{text}；请从 {sources} 个地址建立这些流（--source-address）"
            ),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::plan::{Arrival, Target};
    use dyno_model::{Language, Localized, SEC};

    fn plan(levels: impl IntoIterator<Item = LevelPlan>) -> Plan {
        let mut plan = Plan::new(Target::at("http://gpu:8000"));
        plan.levels.extend(levels);
        plan
    }

    fn closed(concurrency: u32) -> LevelPlan {
        LevelPlan::new(Load::Concurrency { concurrency })
    }

    fn open(rate: f64, tokens: u32) -> LevelPlan {
        let load = Load::Rate { rate, arrival: Arrival::Poisson };
        LevelPlan { output_tokens: LengthSpec::fixed(tokens), ..LevelPlan::new(load) }
    }

    /// B11: with 20,000 open files.
    #[test]
    fn a_load_beyond_the_open_files_is_known_before_it_is_sent() {
        let needs = |plan: &Plan| {
            too_few_files(plan, Some(20_000)).map(|few| (few.streams, few.allowed, few.files))
        };
        assert_eq!(needs(&plan([closed(8), closed(30_000)])), Some((30_000, 19_936, 30_064)));
        assert_eq!(needs(&plan([closed(19_936)])), None);
        assert_eq!(too_few_files(&plan([closed(30_000)]), None), None, "unlimited");
        let few = LevelPlan { requests: Some(100), ..closed(30_000) };
        assert_eq!(needs(&plan([few])), None, "no more than that are sent");
        let burst = LevelPlan::new(Load::Burst { requests: 50_000 });
        assert_eq!(needs(&plan([burst])), Some((50_000, 19_936, 50_064)));
        // How many an open loop has depends on the server, unless the user allows too many.
        assert_eq!(needs(&plan([open(9_000.0, 64)])), None);
        let capped = |most| LevelPlan { max_concurrency: Some(most), ..open(9_000.0, 64) };
        assert_eq!(needs(&plan([capped(25_000)])), Some((25_000, 19_936, 25_064)));
        assert_eq!(needs(&plan([capped(15_000)])), None);
        let mut shared = plan([closed(30_000)]);
        shared.fleet = Some(dyno_model::fleet::FleetPlan { agents: 2, bus: false });
        assert_eq!(needs(&shared), None, "15,000 each");
        shared.levels = vec![closed(50_000)];
        assert_eq!(too_few_files(&shared, Some(20_000)).unwrap().agents, 4);
        // Both ends are in one process.
        let own = Plan {
            levels: vec![closed(12_000)],
            ..Plan::new(Target { url: None, ..Target::at("x") })
        };
        assert_eq!(needs(&own), Some((12_000, 9_968, 24_064)));
    }

    const BIG: Machine =
        Machine { cpus: 64, server_here: false, open_files: None, ports: Some(28_232), sources: 0 };

    fn count(plan: &Plan) -> u32 {
        agents(plan, None, BIG).agents
    }

    /// The same plan with whole responses, so that streams decide alone.
    fn whole(mut plan: Plan) -> Plan {
        plan.request.stream = false;
        plan
    }

    #[test]
    fn streams_decide_for_a_closed_loop_and_a_burst() {
        let count = |levels: Vec<LevelPlan>| count(&whole(plan(levels)));
        assert_eq!(count(vec![closed(1)]), 1);
        assert_eq!(count(vec![closed(28_000)]), 1);
        assert_eq!(count(vec![closed(28_001)]), 2);
        assert_eq!(count(vec![closed(8), closed(60_000), closed(16)]), 3, "the largest level");
        assert_eq!(count(vec![LevelPlan::new(Load::Burst { requests: 100_000 })]), 4);
    }

    #[test]
    fn streams_of_a_closed_loop_are_assumed_to_get_thirty_tokens_a_second() {
        // The rows of the guide: 2,000 streams are one client's, 8,000 are not.
        assert_eq!(count(&plan([closed(2_000)])), 1);
        assert_eq!(count(&plan([closed(4_000)])), 1);
        let need = agents(&plan([closed(8_000)]), None, BIG);
        assert_eq!((need.agents, need.tokens_per_s, need.assumed), (2, Some(240_000.0), true));
        let said = "2 agents: 8000 streams, up to 28000 for each agent; 240000 tokens/s if each stream gets 30, \
                    up to 120000 for each agent";
        assert_eq!(need.said().text(Language::English), said);
        assert!(need.said().text(Language::Chinese).contains("假定每路 30 个"));
        assert_eq!(count(&whole(plan([closed(8_000)]))), 1);
        assert_eq!(count(&plan([LevelPlan::new(Load::Burst { requests: 8_000 })])), 2);
        // What is known takes precedence, and the larger of two levels counts.
        assert!(!agents(&plan([closed(8_000)]), Some(90_000.0), BIG).assumed);
        let both = agents(&plan([closed(1_000), open(2_000.0, 200)]), None, BIG);
        assert_eq!((both.agents, both.assumed), (4, false));
        let mut ladder = plan([closed(1)]);
        ladder.course.search = Some(Search::Ladder { most: 8_000, per_slot: None });
        assert_eq!(count(&ladder), 2);
    }

    #[test]
    fn tokens_decide_where_they_are_known() {
        // 2,000 requests a second of 200 tokens are 400,000 tokens a second.
        let need = agents(&plan([open(2_000.0, 200)]), None, BIG);
        assert_eq!((need.agents, need.tokens_per_s), (4, Some(400_000.0)));
        assert_eq!(need.streams, Some(20_000));
        // An estimate takes precedence, and is all there is for a closed loop.
        assert_eq!(agents(&plan([open(2_000.0, 200)]), Some(90_000.0), BIG).agents, 1);
        assert_eq!(agents(&plan([closed(512)]), Some(250_000.0), BIG).agents, 3);
        // Nothing is streamed: only streams count.
        assert_eq!(agents(&whole(plan([open(2_000.0, 200)])), None, BIG).tokens_per_s, None);
    }

    #[test]
    fn an_open_loop_never_has_more_streams_than_arrivals_or_allowed() {
        let streams = |level: LevelPlan| agents(&plan([level]), None, BIG).streams;
        assert_eq!(streams(open(5_000.0, 8)), Some(50_000));
        assert_eq!(streams(LevelPlan { requests: Some(900), ..open(5_000.0, 8) }), Some(900));
        let short = LevelPlan { duration_ns: Some(2 * SEC), ..open(5_000.0, 8) };
        assert_eq!(streams(short), Some(10_000));
        let limited = LevelPlan { max_concurrency: Some(256), ..open(5_000.0, 8) };
        assert_eq!(streams(limited), Some(256));
        let ramp = Load::Ramp {
            from: 0.0,
            to: 10_000.0,
            over_ns: 4 * SEC,
            steps: None,
            arrival: Arrival::Poisson,
        };
        assert_eq!(streams(LevelPlan::new(ramp)), Some(20_000));
    }

    #[test]
    fn a_search_counts_with_the_most_it_may_try() {
        let mut ladder = whole(plan([closed(1)]));
        ladder.course.search = Some(Search::Ladder { most: 60_000, per_slot: None });
        assert_eq!(count(&ladder), 3);
        let mut capacity = whole(plan([closed(1)]));
        let search = |over, range| Search::Capacity {
            over,
            range,
            levels: 10,
            width: 0.06,
            arrival: Arrival::Poisson,
            least_requests: 100,
            quick: false,
        };
        capacity.course.search = Some(search(Over::Rate, Range::Between([1.0, 6_000.0])));
        assert_eq!(count(&capacity), 3);
        capacity.course.search = Some(search(Over::Concurrency, Range::Near(15_000.0)));
        assert_eq!(count(&capacity), 2);
        capacity.course.search = Some(search(Over::Concurrency, Range::Unknown));
        assert_eq!(count(&capacity), 1);
    }

    #[test]
    fn cpus_are_left_for_the_coordinator_and_a_local_server() {
        let huge = whole(plan([closed(100_000)]));
        let of = |cpus, server_here| agents(&huge, None, Machine { cpus, server_here, ..BIG });
        assert_eq!((of(8, false).agents, of(8, false).wanted), (4, None));
        assert_eq!((of(4, false).agents, of(4, false).wanted), (3, Some(4)));
        assert_eq!((of(4, true).agents, of(4, true).wanted), (2, Some(4)));
        for cpus in [0, 1, 2] {
            assert_eq!((of(cpus, true).agents, of(cpus, false).agents), (1, 1), "never none");
        }
        let text = of(4, true).said().text(Language::English);
        assert!(text.contains("2 agents, although the load needs 4 (100000 streams"), "{text}");
        assert!(text.contains("4 CPUs") && text.contains("one for the server"), "{text}");
    }

    #[test]
    fn files_limit_an_agent_and_ports_limit_the_machine() {
        let wide = whole(plan([closed(60_000)]));
        let need = agents(&wide, None, Machine { open_files: Some(20_000), ..BIG });
        assert_eq!(need.agents, 4, "19,936 each");
        assert_eq!(need.sources, Some(5), "agents share the ports of an address");
        let text = need.said().text(Language::English);
        assert!(text.ends_with("open the streams from 5 addresses (--source-address)"), "{text}");
        let enough = agents(&wide, None, Machine { sources: 5, ..BIG });
        assert_eq!((enough.agents, enough.sources), (3, None));
        assert_eq!(agents(&plan([closed(14_116)]), None, BIG).sources, None);
        assert_eq!(agents(&plan([closed(14_117)]), None, BIG).sources, Some(2));
    }

    #[test]
    fn the_reason_has_the_numbers_in_both_languages() {
        let need = agents(&plan([open(2_000.0, 200)]), None, Machine { sources: 2, ..BIG });
        let expected = "4 agents: 20000 streams, up to 28000 for each agent; 400000 tokens/s, up to 120000 for each \
             agent";
        assert_eq!(need.said().text(Language::English), expected);
        let chinese = need.said().text(Language::Chinese);
        assert!(chinese.starts_with("4 个压测端：20000 路流"), "{chinese}");
        let one = agents(&whole(plan([closed(64)])), None, BIG).said().text(Language::English);
        assert_eq!(one, "1 agent is enough: 64 streams, up to 28000 for each agent");
        let trace = agents(&plan([LevelPlan::new(Load::Trace { speed: 1.0 })]), None, BIG);
        assert_eq!(trace.agents, 1);
        assert!(trace.said().text(Language::English).contains("does not say"));
    }
}
