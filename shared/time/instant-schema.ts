import { z } from 'zod';

/** A time in ISO 8601 with its offset, as callers write it. */
export const instantSchema = z.iso.datetime({
  offset: true,
  error: 'expected a time in ISO 8601 with its offset, like 2026-05-01T09:00:00Z',
});
