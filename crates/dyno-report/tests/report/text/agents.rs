//! Levels of several load generators.

use super::*;
use dyno_model::fleet::AgentEnd;
use dyno_testing::agents::*;

#[test]
fn a_table_of_agents_below_their_level() {
    let (plan, records, mut agents) = fleet(4, 8, 25);
    agents[2].start_error_ns = Some(12 * MS as i64);
    (agents[3].client.blind_ns, agents[3].client.longest_stall_ns) = (900 * MS, 30 * MS);
    let summary = fleet_summary(&plan, records, agents);
    insta::assert_snapshot!(text(&summary));
    insta::assert_snapshot!("agents_chinese", chinese(&summary));
}

#[test]
fn a_lost_agent_is_named_and_has_what_is_known() {
    let (plan, mut records, mut agents) = fleet(2, 8, 25);
    records.retain(|record| record.agent != Some(1));
    let why = "no sign of life for 10 s".to_owned();
    agents[1] = AgentEnd {
        lost: Some(dyno_model::Message::quoted(why)),
        ..AgentEnd::new(1, "\u{1b}[2Jnode", "b")
    };
    let text = text(&fleet_summary(&plan, records, agents));
    let rows: Vec<&str> = text.lines().skip_while(|line| !line.contains("2 agents on")).collect();
    insta::assert_snapshot!(rows.join("\n"));
    assert!(text.contains("lost: no sign of life for 10 s"), "{text}");
}

#[test]
fn of_many_agents_only_the_worst_are_shown() {
    let (plan, records, mut agents) = fleet(40, 40, 25);
    for (agent, ms) in [(7, 30), (31, 40)] {
        agents[agent].start_error_ns = Some(ms * MS as i64);
    }
    let text = text(&fleet_summary(&plan, records, agents));
    let rows: Vec<&str> = text.lines().skip_while(|line| !line.contains("40 agents on")).collect();
    insta::assert_snapshot!(rows.join("\n"));
}
