import { z } from 'zod';
import { whole } from './whole.ts';

/** A user or group of the system by number, or `own`: that of Muster's process. */
const systemUserSchema = z.union([z.literal('own'), z.number().int().min(0).max(4_294_967_294)]);

/** How `command` agents are run, whichever they are. */
export const commandSettingsSchema = z.strictObject({
  /**
   * The user that programs run as, so that they cannot read what is the fleet's; `MUSTER_COMMAND_UID` wins. Another user than its own
   * needs a worker that runs as root. Defaults to 65534 (nobody) where the worker is root, else to `own`.
   */
  uid: systemUserSchema.optional(),
  /** Their group. Defaults to the number of the user. */
  gid: z.number().int().min(0).max(4_294_967_294).optional(),
  /** Where each attempt gets a folder of its own. Defaults to the system's folder for temporary files. */
  folder: z.string().min(1).optional(),
  /** Between SIGTERM and SIGKILL. Keep it under `worker.cancelGraceMs`. */
  killGraceMs: whole(2000, 0),
  /** How long killed processes may take to be gone before the attempt ends without them. */
  endMs: whole(5000),
  /** Between two looks at what running programs have started: what leaves them later is known by it. */
  lookMs: whole(1000, 50),
  /** Of what a program writes to stderr, the end is kept for the attempt's record. */
  maxStderrBytes: whole(4096),
});

export type CommandSettings = z.infer<typeof commandSettingsSchema>;
