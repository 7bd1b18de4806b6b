import { z } from 'zod';
import { int } from '../fields.ts';

/** How models are called. */
export const modelCallSettingsSchema = z
  .strictObject({
    /** Output tokens at most of a call that names no bound, of a model with a price. Defaults to 4096. */
    maxOutputTokens: int(4096),
    /** Where a budget has no more left, a call goes with a smaller bound of its output, down to so many tokens. Defaults to 256. */
    minOutputTokens: int(256),
  })
  .prefault({});

/** When calls of an agent to an endpoint that fails again and again wait until it answers. */
export const circuitSettingsSchema = z
  .strictObject({
    /** Failed calls in a row that open a circuit. Defaults to 5. */
    failures: int(5),
    /** A call that a timeout ended counts as failed when nothing had come for so long. Defaults to 10 s. */
    silenceMs: int(10_000, 10),
    /** Before the first call that tries an open circuit again; doubled by each that fails. Defaults to 10 s. */
    openMs: int(10_000, 10),
    /** Longest time between two such calls. Defaults to five minutes. */
    maxOpenMs: int(300_000, 10),
    /** How long such a call may take before another one tries as well. Defaults to two minutes. */
    probeMs: int(120_000, 10),
    /** Between two checks for tasks that circuits hold and that may start. Defaults to a second. */
    checkMs: int(1000, 20),
    /** A task that a circuit holds tries its call after so long, released or not. Defaults to 30 minutes. */
    maxHoldMs: int(1_800_000, 1000),
    /** How long failures count after the last one. Defaults to an hour. */
    retentionMs: int(3_600_000, 1000),
    /** Circuits of a tenant; failures of further agents and endpoints are not counted. Defaults to 1000. */
    maxRecords: int(1000),
  })
  .prefault({});
