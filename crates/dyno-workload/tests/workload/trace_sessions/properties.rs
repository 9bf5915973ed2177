//! Any sessions are read back, and any bytes are read or refused.

use super::forms::*;
use super::*;

proptest! {
    #[test]
    fn mapped_sessions_keep_every_pause_and_length(
        all in prop::collection::vec(prop::collection::vec((0_u64..5_000, 1_u32..500, 1_u32..90), 1..6), 1..6),
    ) {
        // Rows of all sessions in the order in which they were sent, with ends and totals.
        let (mut rows, mut wanted) = (Vec::new(), Vec::new());
        for (name, turns) in all.iter().enumerate() {
            let (mut at, mut history, mut session) = (name as u64, 0, Vec::new());
            for (number, (pause, added, output)) in turns.iter().enumerate() {
                let pause = if number == 0 { 0 } else { *pause };
                let (start, input) = (at + pause, history + added);
                at = start + 7;
                history = input + output;
                rows.push((start, at, name, input, *output));
                session.push((pause, input, *output));
            }
            wanted.push(session);
        }
        rows.sort_unstable();
        let mut text = "s,t,e,i,o\n".to_owned();
        for (start, end, name, input, output) in rows {
            text.push_str(&format!("{name},{start},{end},{input},{output}\n"));
        }
        let spec = "trace:t.csv,session=s,time=t,end=e,unit=ms,input=i,output=o";
        let read = opened(&text, spec, Starts::Recorded).unwrap();
        prop_assert_eq!(sessions(&read), wanted);
    }

    #[test]
    fn any_bytes_are_sessions_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), form in 0_usize..7) {
        let heads = [trace_lab(), dynamo(), otlp(), serving_sim(), mooncake(), table(), weka(json!([{"t": 0, "in": 5, "out": 1}]))];
        let bytes = [heads[form].as_bytes(), &bytes].concat();
        let spec: DataSpec = "session:t,skip_bad=true".parse().unwrap();
        if let Err(error) = TraceSessions::from_bytes("t", &bytes, &spec, &TraceLimits::default(), Starts::Given) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
