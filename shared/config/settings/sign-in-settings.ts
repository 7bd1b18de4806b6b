import { z } from 'zod';
import { int } from '../fields.ts';

/** How people sign in, besides with an API key. */
export const signInSettingsSchema = z.strictObject({
  /** How long a link that signs a browser in once may be used. */
  linkMs: int(600_000, 1000),
});
