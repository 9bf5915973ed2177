//! What must hold for any bytes that are given as a trace: read or refused, never with a panic. For
//! the fuzz target `trace_reader`, and for a test that gives it the seeds.

use dyno_workload::data::DataSpec;
use dyno_workload::trace::{
    SessionTraceProfile, Starts, Trace, TraceLimits, TraceProfile, TraceSessions,
};

/// What the bytes are read as; the first of them chooses.
pub(crate) const SPECS: [&str; 8] = [
    "trace:f",
    "trace:f,skip_bad=true,block=3,from=1ms,to=1h,speed=0.5",
    "trace:f.csv,time=a,unit=s,input=b,output=c,skip_bad=true",
    "trace:f,gap=a,unit=us,input=b.0,output=b.c,hash=h,skip_bad=true",
    "trace:f,session=s,time=a,end=e,unit=ms,input=b,output=c,skip_bad=true",
    "trace:f,session=s,time=a,gap=g,unit=ns,input=b,output=c,hash=h",
    "session:f",
    "session:f,skip_bad=true,turns=3,think=1s-2s",
];

/// Reads the bytes as a trace and as sessions, and checks what is read.
pub(crate) fn check(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else { return };
    let Some(text) = SPECS.get(usize::from(*choice) % SPECS.len()) else { return };
    let Ok(spec) = text.parse::<DataSpec>() else { return };
    let name = spec.path.as_deref().and_then(|path| path.to_str()).unwrap_or("f");
    let limits = TraceLimits { max_input: Some(1_000), truncate: true, ..TraceLimits::default() };
    match Trace::from_bytes(name, bytes, &spec, &limits) {
        Ok(trace) => requests(&trace),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    for starts in [Starts::Recorded, Starts::Given] {
        match TraceSessions::from_bytes(name, bytes, &spec, &TraceLimits::default(), starts) {
            Ok(read) => sessions(&read, starts),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

fn requests(trace: &Trace) {
    assert!(!trace.recognised().to_string().contains('\n'));
    assert!(!trace.is_empty() && trace.schedule().is_sorted());
    assert!(trace.requests().all(|one| (1..=1_000).contains(&one.input) && one.output > 0));
    let profile = TraceProfile::of(trace);
    assert!(profile.reuse.is_none_or(|reuse| reuse.seen <= reuse.input));
    assert!(!profile.to_string().is_empty());
}

fn sessions(read: &TraceSessions, starts: Starts) {
    assert!(!read.recognised().to_string().contains('\n'));
    assert!(!read.is_empty() && read.schedule().is_sorted());
    let started = if starts == Starts::Recorded { read.len() } else { 0 };
    assert_eq!(read.schedule().count() as u64, started);
    let mut requests = 0;
    for index in 0..read.len() {
        let turns: Vec<_> = read.session(index).into_iter().flatten().collect();
        assert!(!turns.is_empty());
        requests += turns.len() as u64;
        let grows = turns.windows(2).all(|two| two[1].1 > two[0].1 + two[0].2);
        assert!(grows || read.have_text(), "{turns:?}");
    }
    assert_eq!(requests, read.requests());
    let profile = SessionTraceProfile::of(read);
    assert!(profile.kept.is_none_or(|kept| kept.recorded.max(kept.replayed) <= kept.input));
    assert!(!profile.to_string().is_empty());
}
