// How a link treats the packets of one direction, as the forwarder reads it, and what it tells of itself.

/** Independent losses, or bursts by the model of Gilbert and Elliott: two states, each with its own share of losses. */
export type Loss =
  | { readonly kind: 'independent'; readonly share: number }
  | {
      readonly kind: 'bursts';
      /** Chance, at each packet, that a burst begins. */
      readonly enter: number;
      /** Chance, at each packet of a burst, that it ends: its mean length is 1 / leave. */
      readonly leave: number;
      /** Share lost within a burst; all unless said. */
      readonly shareInside?: number;
      /** Share lost outside of bursts; none unless said. */
      readonly shareOutside?: number;
    };

/** Packets of one transport, delayed further in a queue of their own. Those changed over while under way may reorder. */
interface Apart {
  readonly transport: 'udp' | 'tcp';
  /** Both unless said. */
  readonly family?: 4 | 6;
  /** On top of the shape's own. */
  readonly delayMs: number;
}

/** One direction; what is left out does nothing. Packets never overtake each other, but for those that are set apart. */
export interface Shape {
  /** From arrival at the link, or from the end of its sending where a rate is set; never less. */
  readonly delayMs?: number;
  /** Further delay, uniform from 0 to this. */
  readonly jitterMs?: number;
  readonly loss?: Loss;
  /** Sending takes each packet's IP bytes over this rate. */
  readonly rateMbps?: number;
  /** With a rate: how many packets may wait or be in sending; those that find it full are lost. 1000 unless said. */
  readonly queuePackets?: number;
  /** Longer IP packets are lost without a word: a path MTU black hole for all transports. */
  readonly maxPacketBytes?: number;
  /** Neither queue waits for the other; loss and rate are met by both alike. */
  readonly apart?: Apart;
}

export type Direction = 'up' | 'down';
/** `up`: from the client. */
export type Shapes = Readonly<Partial<Record<Direction, Shape>>>;

/** One direction's packets since the last report. */
export interface DirectionReport {
  readonly delivered: number;
  /** By the shape's loss. */
  readonly lost: number;
  /** For a full queue. */
  readonly overflowed: number;
  /** For their length. */
  readonly oversized: number;
  /** How much later than asked packets were delivered, microseconds, in steps of ten; null without packets. */
  readonly lateUs: { readonly median: number; readonly p99: number; readonly max: number } | null;
  /** The shortest time between arrival and delivery, microseconds; null without packets. */
  readonly shortestUs: number | null;
}
export type LinkReport = Readonly<Record<Direction, DirectionReport>>;
