//! When requests are made and which of them find the outcome of an earlier race: an open load with
//! exponentially distributed gaps, and P1's hit ratios.

use std::time::Duration;

use fastrand::Rng;

/// Moments from 0 up to `duration`; the mean gap is the inverse of `per_second`.
pub fn exponential_moments(per_second: f64, duration: Duration, random: &mut Rng) -> Vec<Duration> {
    let mut moments = Vec::new();
    let mut at = 0.0;
    loop {
        at += -(1.0 - random.f64()).ln() / per_second;
        if at >= duration.as_secs_f64() {
            return moments;
        }
        moments.push(Duration::from_secs_f64(at));
    }
}

/// One request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Draw {
    /// The path, of those that were given.
    pub path: usize,
    /// Whether the outcome is cached, so that only the earlier winner is attempted.
    pub hit: bool,
}

/// An endless sequence in which every block has as many requests for each path, and exactly the hit
/// ratio for each: drawn independently, the ratio would itself be random.
pub struct Draws {
    block: Vec<Draw>,
    next: usize,
    random: Rng,
}

/// Represents every hit ratio in steps of a tenth.
const BLOCK: usize = 10;

impl Draws {
    pub fn new(paths: usize, hit_share: f64, random: Rng) -> Self {
        let hits = (hit_share * BLOCK as f64).round() as usize;
        let of_path = |path| (0..BLOCK).map(move |index| (path, index < hits));
        let block: Vec<Draw> = (0..paths)
            .flat_map(of_path)
            .map(|(path, hit)| Draw { path, hit })
            .collect();
        Self {
            next: block.len(),
            block,
            random,
        }
    }

    pub fn draw(&mut self) -> Draw {
        if self.next == self.block.len() {
            self.random.shuffle(&mut self.block);
            self.next = 0;
        }
        self.next += 1;
        self.block[self.next - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_exponential_with_the_mean_that_was_asked_for() {
        let mut random = Rng::with_seed(1);
        let moments = exponential_moments(1000.0, Duration::from_secs(100), &mut random);
        // Five standard deviations of a Poisson count.
        let count = moments.len() as f64;
        assert!(
            (count - 100_000.0).abs() < 5.0 * 100_000_f64.sqrt(),
            "{count}"
        );
        let gaps = moments
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64());
        let longer = gaps.filter(|gap| *gap > 0.001).count() as f64 / count;
        assert!((longer - (-1_f64).exp()).abs() < 0.01, "{longer}");
        assert!(moments.is_sorted());
    }

    #[test]
    fn the_same_seed_gives_the_same_moments() {
        let of = |seed| {
            let mut random = Rng::with_seed(seed);
            exponential_moments(100.0, Duration::from_secs(1), &mut random)
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn every_block_has_the_hit_ratio_for_each_path() {
        for hits in 0..=BLOCK {
            let mut draws = Draws::new(2, hits as f64 / 10.0, Rng::with_seed(1));
            for _ in 0..3 {
                let block: Vec<Draw> = (0..20).map(|_| draws.draw()).collect();
                for path in [0, 1] {
                    let own = block.iter().filter(|draw| draw.path == path);
                    assert_eq!(own.clone().count(), BLOCK);
                    assert_eq!(own.filter(|draw| draw.hit).count(), hits);
                }
            }
        }
    }
}
