//! Which packets are lost: independently, or in bursts by the model of Gilbert (1960) and Elliott
//! (1963), two states with a loss rate each.

use fastrand::Rng;
use serde::Deserialize;

/// Loss rates and probabilities are from 0 to 1.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Loss {
    Independent {
        share: f64,
    },
    #[serde(rename_all = "camelCase")]
    Bursts {
        /// Probability, per packet, that a burst begins.
        enter: f64,
        /// Probability, per packet of a burst, that it ends.
        leave: f64,
        #[serde(default = "all")]
        share_inside: f64,
        #[serde(default)]
        share_outside: f64,
    },
}

fn all() -> f64 {
    1.0
}

impl Loss {
    /// An error that names the value out of range.
    pub fn check(&self) -> Result<(), String> {
        let chances = match *self {
            Loss::Independent { share } => vec![share],
            Loss::Bursts {
                enter,
                leave,
                share_inside,
                share_outside,
            } => vec![enter, leave, share_inside, share_outside],
        };
        match chances.iter().find(|chance| !(0.0..=1.0).contains(*chance)) {
            Some(chance) => Err(format!("{chance} is no chance")),
            None => Ok(()),
        }
    }
}

/// The losses of one direction, one packet at a time.
pub struct Losses {
    random: Rng,
    in_burst: bool,
}

impl Losses {
    pub fn new(random: Rng) -> Self {
        Self {
            random,
            in_burst: false,
        }
    }

    /// Whether the next packet is lost.
    pub fn next_is_lost(&mut self, loss: &Loss) -> bool {
        let share = match *loss {
            Loss::Independent { share } => share,
            Loss::Bursts {
                enter,
                leave,
                share_inside,
                share_outside,
            } => {
                let turn = if self.in_burst { leave } else { enter };
                self.in_burst ^= self.random.f64() < turn;
                if self.in_burst {
                    share_inside
                } else {
                    share_outside
                }
            }
        };
        self.random.f64() < share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 100_000;

    fn run(loss: Loss) -> Vec<bool> {
        let mut losses = Losses::new(Rng::with_seed(1));
        (0..PACKETS).map(|_| losses.next_is_lost(&loss)).collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
    }

    #[test]
    fn independent_losses_keep_to_their_share() {
        assert_eq!(share(&run(Loss::Independent { share: 0.0 })), 0.0);
        assert_eq!(share(&run(Loss::Independent { share: 1.0 })), 1.0);
        // Five standard deviations of a binomial count are 0.7 % here.
        let got = share(&run(Loss::Independent { share: 0.3 }));
        assert!((got - 0.3).abs() < 0.01, "{got}");
    }

    #[test]
    fn bursts_are_as_long_and_as_frequent_as_asked() {
        let lost = run(Loss::Bursts {
            enter: 0.05,
            leave: 0.25,
            share_inside: 1.0,
            share_outside: 0.0,
        });
        // Stationary share enter / (enter + leave); geometric length of mean 1 / leave. Five
        // standard deviations of a share whose packets are correlated by 0.7 are 1.4 %.
        let got = share(&lost);
        assert!((got - 1.0 / 6.0).abs() < 0.014, "{got}");
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let length = got * PACKETS as f64 / bursts as f64;
        assert!((length - 4.0).abs() < 0.3, "{length}");
    }

    #[test]
    fn the_same_seed_loses_the_same_packets() {
        let loss = Loss::Independent { share: 0.5 };
        assert_eq!(run(loss), run(loss));
    }
}
