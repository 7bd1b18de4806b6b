import type { KeptPlaces } from '../kept/kept-places.ts';

/** What a process under a program's user is asked: one line of JSON each. */
export type UserRequest =
  | { readonly kind: 'list' }
  | { readonly kind: 'read'; readonly index: number; readonly offset: number; readonly maxBytes: number }
  | { readonly kind: 'list-kept'; readonly places: KeptPlaces }
  /** The next piece of an archive of what was listed last, from its beginning where that is wanted; empty at its end. */
  | { readonly kind: 'pack-kept'; readonly isFirst: boolean }
  | { readonly kind: 'unpack-kept'; readonly archive: string; readonly places: KeptPlaces }
  | { readonly kind: 'clear' };

/** What its answer is: JSON, bytes of a file, or why there is none. */
export type FrameKind = 'json' | 'bytes' | 'failure';

const KINDS: readonly FrameKind[] = ['json', 'bytes', 'failure'];
const HEADER_BYTES = 5;
/** A listing is the longest. */
const MAX_BYTES = 8 * 1024 * 1024;

export interface Frame {
  readonly kind: FrameKind;
  readonly payload: Buffer<ArrayBuffer>;
}

/** The kind in a byte, the length in four, and the payload. */
export function encodeFrame({ kind, payload }: Frame): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(KINDS.indexOf(kind));
  header.writeUInt32BE(payload.length, 1);
  return Buffer.concat([header, payload]);
}

/** The first frame and what follows it; null while it is incomplete. Throws for what is no frame. */
export function decodeFrame(received: Buffer<ArrayBuffer>): { frame: Frame; rest: Buffer<ArrayBuffer> } | null {
  if (received.length < HEADER_BYTES) return null;
  const kind = KINDS[received.readUInt8()];
  const end = HEADER_BYTES + received.readUInt32BE(1);
  if (kind === undefined || end > MAX_BYTES) throw new Error('a process under another user answered what is no frame');
  if (received.length < end) return null;
  return { frame: { kind, payload: received.subarray(HEADER_BYTES, end) }, rest: received.subarray(end) };
}
