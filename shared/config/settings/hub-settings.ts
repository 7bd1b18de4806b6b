import { z } from 'zod';
import { int } from '../fields.ts';

/** Daemons and the hubs that they connect to. */
export const hubSettingsSchema = z.strictObject({
  /** Daemons that a tenant may register. Defaults to 100. */
  maxDaemonsPerTenant: int(100),
  /** Tasks that one daemon runs at once at most, whatever it declares. Defaults to 100. */
  maxSlotsPerDaemon: int(100),
  /** Tasks that one hub has at its daemons at once, over all of them. Defaults to 1000. */
  slots: int(1000),
  /** Connections that one hub holds. Defaults to 5000. */
  maxConnections: int(5000),
  /** Connections of one daemon before their hello; at more, its oldest one is closed. Defaults to 5. */
  maxConnectionsBeforeHello: int(5),
  /** Connections that one daemon opens in a minute, over all hubs. Defaults to 120. */
  connectsPerMinute: int(120),
  /** How long a new connection may take to say who it is. Defaults to 10 s. */
  helloMs: int(10_000, 100),
  /** Between two heartbeats of a daemon. Defaults to 10 s. */
  heartbeatMs: int(10_000, 100),
  /** Heartbeats that a daemon misses before its connection is closed. Defaults to 3. */
  missedHeartbeats: int(3),
  /** How long a daemon may be away before the attempts that it runs have failed, and how long their leases are. Defaults to 30 s. */
  graceMs: int(30_000, 500),
  /** Between two sendings of what a daemon has not acknowledged. Defaults to 2 s. */
  resendMs: int(2000, 50),
  /** How long a connected daemon may take to accept a task before another one gets it. Defaults to 6 s. */
  acceptMs: int(6000, 50),
  /** How long a daemon that lost an attempt gets the same task no more. Defaults to a minute. */
  excludeMs: int(60_000, 0),
  /** Bytes of one message of a daemon. Defaults to 1 MiB. */
  maxMessageBytes: int(1_048_576, 1024),
  /** Messages of one daemon in a second; it is read no faster than that. Defaults to 500. */
  messagesPerSecond: int(500),
  /** Bytes that wait for a daemon which does not read them before its connection is cut. Defaults to 8 MiB. */
  maxBufferedBytes: int(8_388_608, 1024),
  /** How long another hub may take to answer whether it takes a task. Defaults to 1 s. */
  offerMs: int(1000, 50),
  /** Between two searches for waiting tasks that a connected daemon could run, for lost messages. Defaults to 5 s. */
  sweepMs: int(5000, 100),
  /** Between two readings of all daemons by each hub, for lost messages. Defaults to 30 s. */
  directoryMs: int(30_000, 100),
});

export type HubSettings = z.infer<typeof hubSettingsSchema>;
