import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { tenantIdSchema } from './tenant.ts';

const KEY_BYTES = 32;
const ID_BYTES = 6;

/**
 * What a key may do. Each scope includes those after it.
 *
 * - `admin`: tenants and keys
 * - `operate`: steer: queues, agents, hooks, retry and remove on the board
 * - `submit`: make and stop tasks
 * - `read`: read
 * - `visit`: talk in the one session that the key is for; no other scope's routes
 */
export const SCOPES = ['admin', 'operate', 'submit', 'read', 'visit'] as const;
export type Scope = (typeof SCOPES)[number];

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
 * The digest a key is looked up by. A look-up by digest shows nothing of the secret by its time: callers cannot choose where two SHA-256
 * digests differ. No salt, because 32 random bytes need none.
 */
export function keyDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Whether a key with these scopes may do what asks for `wanted`. */
export function hasScope(scopes: readonly Scope[], wanted: Scope): boolean {
  return scopes.some((scope) => SCOPES.indexOf(scope) <= SCOPES.indexOf(wanted));
}
