//! P1's Happy Eyeballs: all candidates at once, the first wins, the others are reset.

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;

use serde::Deserialize;
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// What an attempt must achieve to win.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// The server's first answer: SYN ACK, INIT ACK.
    Answer,
    Established,
}

/// The first attempt that was answered.
#[derive(Default)]
struct FirstAnswer {
    index: Cell<Option<usize>>,
    arrived: Notify,
}

/// By which an attempt tells that it was answered.
pub struct Answered {
    index: usize,
    first: Rc<FirstAnswer>,
}

impl Answered {
    pub fn tell(self) {
        if self.first.index.get().is_none() {
            self.first.index.set(Some(self.index));
            self.first.arrived.notify_one();
        }
    }
}

/// Races one attempt for each candidate and returns the winner's index with its connection; the
/// others' futures and connections have then been dropped, which must reset them.
///
/// # Errors
/// The last failure, if there is no winner. With `Rule::Answer` the winner's own: nobody else is left.
pub async fn race<Candidate, Connection, Failure, Attempt>(
    rule: Rule,
    candidates: &[Candidate],
    attempt: impl Fn(&Candidate, Answered) -> Attempt,
) -> Result<(usize, Connection), Failure>
where
    Attempt: Future<Output = Result<Connection, Failure>> + 'static,
    Connection: 'static,
    Failure: 'static + From<NoCandidate>,
{
    let first = Rc::new(FirstAnswer::default());
    let mut attempts = JoinSet::new();
    let mut aborts = Vec::with_capacity(candidates.len());
    for (index, candidate) in candidates.iter().enumerate() {
        let answered = Answered {
            index,
            first: Rc::clone(&first),
        };
        let connecting = attempt(candidate, answered);
        aborts.push(attempts.spawn_local(async move { (index, connecting.await) }));
    }
    let mut failure = NoCandidate.into();
    loop {
        tokio::select! {
            biased;
            () = first.arrived.notified(), if rule == Rule::Answer => {
                for (index, abort) in aborts.iter().enumerate() {
                    if first.index.get() != Some(index) {
                        abort.abort();
                    }
                }
            }
            ended = attempts.join_next() => match ended {
                Some(Ok((index, Ok(connection)))) => return Ok((index, connection)),
                Some(Ok((_, Err(error)))) => failure = error,
                Some(Err(_aborted)) => {}
                None => return Err(failure),
            },
        }
    }
}

/// Nothing to connect to.
pub struct NoCandidate;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::task::LocalSet;
    use tokio::time::{Instant, sleep};

    use super::*;

    /// Milliseconds until the answer and until it is established or fails.
    #[derive(Clone, Copy)]
    struct Course {
        answer: u64,
        end: u64,
        fails: bool,
    }

    /// Notes when it was reset.
    struct Resets(Rc<Cell<Vec<u64>>>, Instant, bool);

    impl Drop for Resets {
        fn drop(&mut self) {
            if self.2 {
                let mut all = self.0.take();
                all.push(self.1.elapsed().as_millis() as u64);
                self.0.set(all);
            }
        }
    }

    #[derive(Debug, Eq, PartialEq)]
    struct Refused;

    impl From<NoCandidate> for Refused {
        fn from(NoCandidate: NoCandidate) -> Self {
            Self
        }
    }

    /// The winner, when the race was decided, and when the losers were reset.
    async fn run(rule: Rule, courses: &[Course]) -> (Result<usize, Refused>, u64, Vec<u64>) {
        let resets = Rc::new(Cell::new(vec![]));
        let local = LocalSet::new();
        let start = Instant::now();
        let (outcome, decided) = local
            .run_until(async {
                let attempt = |course: &Course, answered: Answered| {
                    let course = *course;
                    let mut guard = Resets(Rc::clone(&resets), start, true);
                    async move {
                        sleep(Duration::from_millis(course.answer)).await;
                        answered.tell();
                        sleep(Duration::from_millis(course.end - course.answer)).await;
                        guard.2 = !course.fails;
                        if course.fails {
                            Err(Refused)
                        } else {
                            Ok(guard)
                        }
                    }
                };
                let outcome = race(rule, courses, attempt).await;
                let decided = start.elapsed().as_millis() as u64;
                let outcome = outcome.map(|(index, mut guard)| {
                    guard.2 = false;
                    index
                });
                (outcome, decided)
            })
            .await;
        drop(local);
        (outcome, decided, resets.take())
    }

    const fn course(answer: u64, end: u64) -> Course {
        Course {
            answer,
            end,
            fails: false,
        }
    }

    /// Of one round trip of 20 ms: TCP is established by its answer, SCTP a round trip later.
    const TCP: Course = course(21, 21);
    const SCTP: Course = course(20, 40);

    #[tokio::test(start_paused = true)]
    async fn by_the_answer_the_faster_answer_wins_even_if_it_is_established_later() {
        let (winner, decided, resets) = run(Rule::Answer, &[TCP, SCTP]).await;
        assert_eq!((winner, decided), (Ok(1), 40));
        assert_eq!(resets, [20], "the loser is reset at once");
    }

    #[tokio::test(start_paused = true)]
    async fn by_establishment_the_shorter_handshake_wins() {
        let (winner, decided, resets) = run(Rule::Established, &[TCP, SCTP]).await;
        assert_eq!((winner, decided), (Ok(0), 21));
        assert_eq!(resets, [21]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_attempt_leaves_the_race_to_the_others() {
        let refused = Course {
            fails: true,
            ..course(5, 5)
        };
        let (winner, decided, _) = run(Rule::Established, &[refused, SCTP]).await;
        assert_eq!((winner, decided), (Ok(1), 40));
        let (winner, ..) = run(Rule::Established, &[refused, refused]).await;
        assert_eq!(winner, Err(Refused));
    }

    #[tokio::test(start_paused = true)]
    async fn six_candidates_have_one_winner_and_five_resets() {
        let six = [60, 50, 40, 30, 70, 80].map(|end| course(end - 20, end));
        let (winner, decided, resets) = run(Rule::Established, &six).await;
        assert_eq!((winner, decided, resets), (Ok(3), 30, vec![30; 5]));
    }
}
