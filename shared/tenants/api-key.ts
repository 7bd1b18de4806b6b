import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { SCOPES } from './scopes.ts';
import { tenantIdSchema } from './tenant.ts';

const KEY_BYTES = 32;
const ID_BYTES = 6;

/** A key as it is stored: under the digest of its secret, which itself is nowhere. */
export const apiKeySchema = z.object({
  /** Names the key where it is listed and revoked; says nothing about the secret. */
  id: z.string(),
  tenant: tenantIdSchema,
  name: z.string().max(200),
  scopes: z.array(z.enum(SCOPES)).min(1),
  createdAt: z.number().int(),
  /** A visitor's key is for this session and for nothing else. */
  session: z.string().optional(),
  /** When it opens nothing any more, ms since the epoch; absent for never. */
  expiresAt: z.number().int().optional(),
});
export type ApiKey = z.infer<typeof apiKeySchema>;

/** A new secret: 32 random bytes. */
export function newKeySecret(): string {
  return `mk_${randomBytes(KEY_BYTES).toString('base64url')}`;
}

export function newKeyId(): string {
  return `key_${randomBytes(ID_BYTES).toString('hex')}`;
}

/**
 * The digest a key is looked up by. Looking up by digest is constant in time as far as the secret goes: what differs is
 * where two SHA-256 digests part, which nobody can steer. No salt, because 32 random bytes need none.
 */
export function keyDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
