import { connect } from 'node:net';
import { parseRedisAddress } from './redis-address.ts';
import { type Refusal, refusalOf } from './refusals.ts';

const PROBE_MS = 1000;
/** A reply to no command is one line. */
const MAX_CHARS = 1000;

/**
 * What a server says to whoever connects, before any command: that it has no connections left, or takes none from here. The client would not
 * hear that, because what it writes meanwhile breaks the connection. Null when it says nothing, and for servers behind TLS, sentinels or a cluster.
 */
export async function probeRefusal(url: string): Promise<Refusal | null> {
  const address = parseRedisAddress(url);
  if (address.kind !== 'single' || address.options.tls) return null;
  const { path, host = '', port = 0 } = address.options;
  const socket = connect(path === undefined ? { host, port } : { path });
  const said = Promise.withResolvers<string>();
  let text = '';
  socket.setEncoding('utf8').setTimeout(PROBE_MS, () => socket.destroy());
  socket.on('data', (part: string) => {
    text = `${text}${part}`.slice(0, MAX_CHARS);
    if (text.includes('\n')) socket.destroy();
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => said.resolve(text));
  return refusalOf(new Error((await said.promise).replace(/^-/, '').trim()));
}
