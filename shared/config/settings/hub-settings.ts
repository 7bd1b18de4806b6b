import { z } from 'zod';
import { int } from '../fields.ts';

/** Daemons and the hubs that they connect to. */
export const hubSettingsSchema = z.strictObject({
  /** Daemons that a tenant may register. Defaults to 100. */
  maxDaemonsPerTenant: int(100),
  /** Tasks that one daemon runs at once at most, whatever it declares. Defaults to 100. */
  maxSlotsPerDaemon: int(100),
});
