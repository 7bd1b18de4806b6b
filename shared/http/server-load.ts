import type { Settings } from '../config/index.ts';
import { OpenBodies } from './open-bodies.ts';
import { OpenStreams } from './open-streams.ts';

/** What one server has open for those who call it, each within its bounds. */
export interface ServerLoad {
  readonly streams: OpenStreams;
  readonly bodies: OpenBodies;
}

export function createServerLoad(http: Settings['http']): ServerLoad {
  const { maxStreams, maxStreamsPerTenant, maxStreamsPerKey, maxStreamsPerVisitor, slowReaderMs, streamCheckMs } = http;
  return {
    streams: new OpenStreams(maxStreams, {
      slowReaderMs,
      checkMs: streamCheckMs,
      perTenant: maxStreamsPerTenant,
      perKey: maxStreamsPerKey,
      perVisitor: maxStreamsPerVisitor,
    }),
    bodies: new OpenBodies({
      maxBytes: http.maxOpenBodyBytes,
      maxBytesPerAddress: http.maxOpenBodyBytesPerAddress,
      idleMs: http.bodyIdleMs,
    }),
  };
}
