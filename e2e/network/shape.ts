// How a link treats the packets of one direction, in the forwarder's format, and the statistics it reports.

/** Independent losses, or bursts by the Gilbert-Elliott model: two states, each with its own loss rate. */
export type Loss =
  | { readonly kind: 'independent'; readonly share: number }
  | {
      readonly kind: 'bursts';
      /** Probability, per packet, that a burst begins. */
      readonly enter: number;
      /** Probability, per packet of a burst, that it ends: its mean length is 1 / leave. */
      readonly leave: number;
      /** Loss rate within a burst; default: 1. */
      readonly shareInside?: number;
      /** Loss rate outside bursts; default: 0. */
      readonly shareOutside?: number;
    };

/**
 * Packets of one transport, with additional delay in a separate queue. A change of this setting may reorder packets in
 * flight.
 */
interface Apart {
  readonly transport: 'udp' | 'tcp';
  /** Default: both. */
  readonly family?: 4 | 6;
  /** In addition to the shape's delay. */
  readonly delayMs: number;
}

/** One direction; omitted settings have no effect. Packets are never reordered, except relative to those set apart. */
export interface Shape {
  /** From arrival at the link, or from the end of transmission if a rate is set; a minimum. */
  readonly delayMs?: number;
  /** Additional delay, uniform from 0 to this. */
  readonly jitterMs?: number;
  readonly loss?: Loss;
  /** Transmitting a packet takes its IP length at this rate. */
  readonly rateMbps?: number;
  /**
   * With a rate: how many packets may be queued or in transmission; packets that find it full are lost. Default: 1000.
   */
  readonly queuePackets?: number;
  /** Longer IP packets are dropped silently: a path MTU black hole for all transports. */
  readonly maxPacketBytes?: number;
  /** Neither queue waits for the other; loss and rate apply to both together. */
  readonly apart?: Apart;
}

export type Direction = 'up' | 'down';
/** `up`: from the client. */
export type Shapes = Readonly<Partial<Record<Direction, Shape>>>;

/** One direction's packets since the last report. */
export interface DirectionReport {
  readonly delivered: number;
  /** By the shape's loss model. */
  readonly lost: number;
  /** To a full queue. */
  readonly overflowed: number;
  /** By their length. */
  readonly oversized: number;
  /** How much later than requested packets were delivered, microseconds, in steps of ten; null without packets. */
  readonly lateUs: { readonly median: number; readonly p99: number; readonly max: number } | null;
  /** The shortest time between arrival and delivery, microseconds; null without packets. */
  readonly shortestUs: number | null;
}
export type LinkReport = Readonly<Record<Direction, DirectionReport>>;
