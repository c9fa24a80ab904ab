//! The rate of DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015): reaction point, with the notification point's interval.

use stellar_transport::time::Ticks;

/// Constants of DCQCN. Rates are in Mb/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DcqcnParams {
    /// Rate of the line: that of a flow before its first notification, and the highest.
    pub line: f64,
    /// The lowest rate.
    pub least: f64,
    /// Gain g of alpha, the estimate of congestion.
    pub gain: f64,
    /// Alpha falls after so long without a notification (K in the paper).
    pub alpha_timer: Ticks,
    /// Least time between two notifications that lower the rate (N: the notification point sends no more than one in it).
    pub notify_every: Ticks,
    /// A raise of the rate is due after so long (T).
    pub rate_timer: Ticks,
    /// A raise is due after so many bytes, too (B); `None`: by time only.
    pub byte_counter: Option<u64>,
    /// Raises by the timer, and by bytes, that only halve the distance to the target (F): fast recovery.
    pub fast_raises: u32,
    /// What an additive raise adds to the target.
    pub additive: f64,
    /// What a hyper raise adds.
    pub hyper: f64,
    /// Notifications without a raise between them lower the target, too. Without it they leave the target of the first one.
    pub clamps: bool,
}

impl DcqcnParams {
    /// Those of ConWeave's simulator (`run.py` of conweave-project/conweave-ns3), at a line of `gbps` Gb/s.
    pub fn conweave(gbps: u32) -> Self {
        let line = f64::from(gbps) * 1e3;
        Self {
            line,
            least: 100.0,
            gain: 1.0 / 256.0,
            alpha_timer: Ticks::from_us(1),
            notify_every: Ticks::from_us(4),
            rate_timer: Ticks::from_us(300),
            byte_counter: None,
            fast_raises: 1,
            // 40 and 100 Mb/s at 100 Gb/s.
            additive: 10.0 * line / 25e3,
            hyper: 25.0 * line / 25e3,
            clamps: false,
        }
    }

    /// Those of the paper, which are for lines of 40 Gb/s. The least rate and the hyper raise are not in it: 100 Mb/s, and ten times the additive one, are ours.
    pub fn paper(gbps: u32) -> Self {
        Self {
            line: f64::from(gbps) * 1e3,
            least: 100.0,
            gain: 1.0 / 256.0,
            alpha_timer: Ticks::from_us(55),
            notify_every: Ticks::from_us(50),
            rate_timer: Ticks::from_us(55),
            byte_counter: Some(10_000_000),
            fast_raises: 5,
            additive: 40.0,
            hyper: 400.0,
            clamps: true,
        }
    }

    /// Alpha rises at most once in this time.
    fn alpha_rises_every(&self) -> Ticks {
        Ticks(self.alpha_timer.0.min(self.notify_every.0))
    }
}

/// What a flow has from its first notification on.
#[derive(Clone, Copy, Debug)]
struct Reaction {
    rate: f64,
    target: f64,
    alpha: f64,
    /// When a notification lowered the rate, and when alpha rose.
    lowered: Ticks,
    rose: Ticks,
    /// When alpha falls, and when the rate is raised, without a notification.
    alpha_due: Ticks,
    raise_due: Ticks,
    /// Bytes since the last raise by bytes.
    bytes: u64,
    /// Raises since the rate was lowered: by time, and by bytes.
    raises: [u32; 2],
}

/// The rate of one flow. Time is told with every call, and never goes back.
#[derive(Clone, Copy, Debug)]
pub struct Dcqcn {
    params: DcqcnParams,
    /// `None`: there was no notification yet.
    reaction: Option<Reaction>,
}

impl Dcqcn {
    /// A flow at the rate of the line.
    pub const fn new(params: DcqcnParams) -> Self {
        Self {
            params,
            reaction: None,
        }
    }

    /// The rate in Mb/s at the time of the last call.
    pub fn rate(&self) -> f64 {
        self.reaction
            .map_or(self.params.line, |reaction| reaction.rate)
    }

    /// The target rate in Mb/s.
    pub fn target(&self) -> f64 {
        self.reaction
            .map_or(self.params.line, |reaction| reaction.target)
    }

    /// The estimate of congestion, 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.reaction.map_or(1.0, |reaction| reaction.alpha)
    }

    /// Whether it keeps a flow below the rate of its line.
    pub fn is_limited(&self) -> bool {
        self.rate() < self.params.line
    }

    /// A packet of the flow was marked. Lowers the rate, unless another one did so just before.
    pub fn on_mark(&mut self, now: Ticks) {
        self.on_time(now);
        let params = &self.params;
        let reaction = self.reaction.get_or_insert(Reaction {
            rate: params.line,
            target: params.line,
            alpha: 1.0,
            lowered: now.since(params.notify_every),
            rose: now.since(params.alpha_rises_every()),
            alpha_due: now.plus(params.alpha_timer),
            raise_due: now.plus(params.rate_timer),
            bytes: 0,
            raises: [0, 0],
        });
        if now.elapsed(reaction.lowered, params.notify_every) {
            reaction.lower(params, now);
        }
        if now.elapsed(reaction.rose, params.alpha_rises_every()) {
            reaction.alpha += params.gain * (1.0 - reaction.alpha);
            reaction.rose = now;
            reaction.alpha_due = now.plus(params.alpha_timer);
        }
    }

    /// `bytes` of the flow leave.
    pub fn on_sent(&mut self, bytes: u32) {
        let (params, Some(reaction)) = (&self.params, &mut self.reaction) else {
            return;
        };
        let Some(counter) = params.byte_counter else {
            return;
        };
        reaction.bytes += u64::from(bytes);
        if reaction.bytes >= counter {
            reaction.bytes -= counter;
            reaction.raise(params, 1);
        }
    }

    /// Lets time pass: alpha falls, and the rate is raised.
    pub fn on_time(&mut self, now: Ticks) {
        let (params, Some(reaction)) = (&self.params, &mut self.reaction) else {
            return;
        };
        while now.reached(reaction.alpha_due) {
            reaction.alpha *= 1.0 - params.gain;
            reaction.alpha_due = reaction.alpha_due.plus(params.alpha_timer);
        }
        while now.reached(reaction.raise_due) {
            reaction.raise(params, 0);
            reaction.raise_due = reaction.raise_due.plus(params.rate_timer);
        }
    }

    /// Does what a path policy tells: the rate that it remembered, as a part of it.
    pub fn set_rate(&mut self, rate: f64) {
        if let Some(reaction) = &mut self.reaction {
            reaction.rate = rate.clamp(self.params.least, self.params.line);
            reaction.target = reaction.target.max(reaction.rate);
        }
    }
}

impl Reaction {
    /// A notification: the target is the rate, and the rate is less by half of alpha. Timer and bytes start anew.
    fn lower(&mut self, params: &DcqcnParams, now: Ticks) {
        if params.clamps || self.raises[0] > 0 {
            self.target = self.rate;
        }
        self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(params.least);
        self.lowered = now;
        self.raise_due = now.plus(params.rate_timer);
        self.bytes = 0;
        self.raises = [0, 0];
    }

    /// A raise by time (0) or by bytes (1).
    fn raise(&mut self, params: &DcqcnParams, by: usize) {
        let [time, bytes] = self.raises;
        let most = time.max(bytes);
        let least = if params.byte_counter.is_some() {
            time.min(bytes)
        } else {
            time
        };
        if least > params.fast_raises {
            self.target += params.hyper;
        } else if most >= params.fast_raises {
            self.target += params.additive;
        }
        self.target = self.target.min(params.line);
        self.rate = (self.rate + self.target) / 2.0;
        // Without it the rate would only come near to that of the line.
        if params.line - self.rate < 1.0 {
            self.rate = params.line;
        }
        self.raises[by] += 1;
    }
}
