import { z } from 'zod';

/** A session's id is any short text: a chat's number, a pull request's path. It names a lane, so it is part of a key. */
export const sessionIdSchema = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'expected no control characters');
