import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What becomes of a command: it goes on as it is, in other words, as a script that gives the answer, or is refused with this error. */
type Verdict = { words: readonly Buffer[] } | { script: string } | { error: string };

/** Another kind of server, made of the Redis behind it. */
export interface RespProxy {
  /** What a service takes as `REDIS_URL`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a proxy in front of the Redis at this port that looks at each command before the server does: those of a connection one after the other. */
export async function startRespProxy(port: number, judge: (words: readonly Buffer[]) => Verdict | Promise<Verdict>): Promise<RespProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => [client, upstream].forEach((each) => each.destroy()));
    }
    upstream.on('data', (chunk) => client.write(chunk));
    let rest = Buffer.alloc(0);
    let before: Promise<unknown> = Promise.resolve();
    const pass = async (words: readonly Buffer[]): Promise<void> => {
      // The server answers in its order, so that other answers have to come from there, too.
      const verdict = await judge(words);
      upstream.write(encode(wordsOf(verdict)));
    };
    client.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let read = readCommand(rest); read !== null; read = readCommand(rest)) {
        const { words, end } = read;
        rest = rest.subarray(end);
        before = before.then(() => pass(words));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function wordsOf(verdict: Verdict): readonly Buffer[] {
  if ('words' in verdict) return verdict.words;
  const words = 'script' in verdict ? ['EVAL', verdict.script, '0'] : ['EVAL', 'return redis.error_reply(ARGV[1])', '0', verdict.error];
  return words.map((word) => Buffer.from(word));
}

/** The first complete command, and where it ends. Clients send lists of strings only. */
function readCommand(data: Buffer): { words: Buffer[]; end: number } | null {
  const words: Buffer[] = [];
  let at = 0;
  const readNumber = (): number | null => {
    const end = data.indexOf('\r\n', at);
    if (end < 0) return null;
    const number = Number(data.subarray(at + 1, end));
    at = end + 2;
    return number;
  };
  const count = readNumber();
  if (count === null) return null;
  while (words.length < count) {
    const length = readNumber();
    if (length === null || data.length < at + length + 2) return null;
    words.push(data.subarray(at, at + length));
    at += length + 2;
  }
  return { words, end: at };
}

function encode(words: readonly Buffer[]): Buffer {
  return Buffer.concat([
    Buffer.from(`*${words.length}\r\n`),
    ...words.flatMap((word) => [Buffer.from(`$${word.length}\r\n`), word, Buffer.from('\r\n')]),
  ]);
}
