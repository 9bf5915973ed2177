//! What is simulated: an engine, and the overhead of the client.

use super::parameters::Parameter;
use dyno_engine::core::{Cost, CostKnee, Rise, Scheduler};
use dyno_engine::twin::Twin;
use dyno_engine::twin::profile::TwinClient;

/// An engine and a client.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Model {
    /// The engine's settings.
    pub(crate) scheduler: Scheduler,
    /// Its step times.
    pub(crate) cost: Cost,
    /// The client's overhead.
    pub(crate) client: TwinClient,
    /// Spread of the lengths of responses: standard deviation over mean.
    pub(crate) spread: f64,
}

impl Model {
    /// The model of a twin.
    pub(crate) fn of(twin: &Twin) -> Self {
        let spread = twin.lengths.output.spread;
        Self { scheduler: twin.scheduler, cost: twin.cost, client: twin.client, spread }
    }

    /// The value of a parameter, in its unit.
    pub(crate) fn get(&self, parameter: Parameter) -> f64 {
        let knee = self.cost.knee.unwrap_or(CostKnee { above: 0, decode: 0.0, jump: 0.0 });
        let rise = self.cost.rise.unwrap_or(Rise { time: 0.0, within: 0.0 });
        match parameter {
            Parameter::Base => 1e3 * self.cost.base,
            Parameter::PrefillToken => 1e6 * self.cost.prefill_token,
            Parameter::Attention => 1e9 * self.cost.attention,
            Parameter::Decode => 1e6 * self.cost.decode,
            Parameter::Kv => 1e9 * self.cost.kv,
            Parameter::PrefillBase => 1e3 * self.cost.prefill_base,
            Parameter::FrontEnd => 1e3 * self.cost.front_end,
            Parameter::KneeAbove => f64::from(knee.above),
            Parameter::KneeSlope => 1e6 * (self.cost.decode + knee.decode),
            Parameter::RiseTime => 1e3 * rise.time,
            Parameter::RiseWithin => rise.within,
            Parameter::Pool => self.scheduler.kv_blocks as f64,
            Parameter::InFlight => f64::from(self.client.in_flight.unwrap_or(0)),
            Parameter::ClientToken => self.client.token_us,
            Parameter::Spread => self.spread,
            Parameter::LaunchPrefill => 1e3 * self.cost.launch.prefill,
            Parameter::LaunchLarge => 1e3 * self.cost.launch.large,
            Parameter::LaunchSequence => 1e6 * self.cost.launch.sequence,
            Parameter::FrontRequest => 1e3 * self.cost.front.request,
            Parameter::FrontInput => 1e6 * self.cost.front.input,
            Parameter::FrontChunk => 1e6 * self.cost.front.chunk,
        }
    }

    /// Sets a parameter, in its unit. The slope above the knee is kept when the one below changes.
    pub(crate) fn set(&mut self, parameter: Parameter, value: f64) {
        let cost = &mut self.cost;
        let knee = |cost: &mut Cost, change: &dyn Fn(&mut CostKnee)| {
            let mut knee = cost.knee.unwrap_or(CostKnee { above: 0, decode: 0.0, jump: 0.0 });
            change(&mut knee);
            cost.knee = Some(knee);
        };
        match parameter {
            Parameter::Base => cost.base = 1e-3 * value,
            Parameter::PrefillToken => cost.prefill_token = 1e-6 * value,
            Parameter::Attention => cost.attention = 1e-9 * value,
            Parameter::Decode => {
                let slope = cost.decode + cost.knee.map_or(0.0, |knee| knee.decode);
                cost.decode = 1e-6 * value;
                if cost.knee.is_some() {
                    let decode = slope - cost.decode;
                    knee(cost, &|knee| knee.decode = decode);
                }
            }
            Parameter::Kv => cost.kv = 1e-9 * value,
            Parameter::PrefillBase => cost.prefill_base = 1e-3 * value,
            Parameter::FrontEnd => cost.front_end = 1e-3 * value,
            Parameter::KneeAbove => knee(cost, &|knee| knee.above = value.round() as u32),
            Parameter::KneeSlope => {
                let decode = 1e-6 * value - cost.decode;
                knee(cost, &|knee| knee.decode = decode);
            }
            Parameter::RiseTime => {
                let within = cost.rise.map_or(1.0, |rise| rise.within);
                cost.rise = Some(Rise { time: 1e-3 * value, within });
            }
            Parameter::RiseWithin => {
                let time = cost.rise.map_or(0.0, |rise| rise.time);
                cost.rise = Some(Rise { time, within: value });
            }
            Parameter::Pool => self.scheduler.kv_blocks = value.round() as u64,
            Parameter::InFlight => self.client.in_flight = Some(value.round() as u32),
            Parameter::ClientToken => self.client.token_us = value,
            Parameter::Spread => self.spread = value,
            Parameter::LaunchPrefill => cost.launch.prefill = 1e-3 * value,
            Parameter::LaunchLarge => cost.launch.large = 1e-3 * value,
            Parameter::LaunchSequence => cost.launch.sequence = 1e-6 * value,
            Parameter::FrontRequest => cost.front.request = 1e-3 * value,
            Parameter::FrontInput => cost.front.input = 1e-6 * value,
            Parameter::FrontChunk => cost.front.chunk = 1e-6 * value,
        }
    }
}
