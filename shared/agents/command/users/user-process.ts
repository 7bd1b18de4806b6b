import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { LATE, within } from '../../../time/index.ts';
import type { Listing } from '../folder/output-files.ts';
import type { KeptListing, KeptPlaces } from '../kept/kept-places.ts';
import type { CommandUser } from './command-user.ts';
import { decodeFrame, type Frame, type UserRequest } from './user-frames.ts';

/** The folder that it works in, and what of it, relative to that. */
export interface UserPlace {
  readonly folder: string;
  /** Where files are listed. */
  readonly output: string;
  /** What is cleared. */
  readonly cleared: readonly string[];
}

const ENTRY = fileURLToPath(new URL(`user-main${extname(import.meta.url)}`, import.meta.url));
const listingSchema = z.object({
  files: z.array(z.object({ name: z.string(), bytes: z.number() })),
  leftOut: z.array(z.object({ name: z.string(), reason: z.string() })),
});

const keptSchema = z.object({ digest: z.string(), sessionFiles: z.number(), entries: z.number(), problem: z.string().nullable() });

/** What is about an answer that the same process has given before. */
const NEEDS_FORMER: ReadonlySet<UserRequest['kind']> = new Set(['read', 'pack-kept']);

const ANSWER_MS = 30_000;
const UNPACK_MS = 120_000;
/** A program may leave millions of files. */
const CLEAR_MS = 180_000;

/**
 * UserProcess is responsible for what is done where an attempt's program could be in the way: a process with the rights of the program's user
 * does it, so that a link leads to nothing that the program itself could not have read or changed. Only root can start one.
 */
export class UserProcess {
  readonly #user: CommandUser;
  readonly #place: UserPlace;
  #child: ChildProcess | undefined;
  #answers: AsyncGenerator<Frame> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(user: CommandUser, place: UserPlace) {
    this.#user = user;
    this.#place = place;
  }

  async list(): Promise<Listing> {
    const { payload } = await this.#ask({ kind: 'list' });
    return listingSchema.parse(JSON.parse(payload.toString('utf8')));
  }

  async read(index: number, offset: number, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
    const { payload } = await this.#ask({ kind: 'read', index, offset, maxBytes });
    return payload;
  }

  async listKept(places: KeptPlaces): Promise<KeptListing> {
    const { payload } = await this.#ask({ kind: 'list-kept', places: this.#withinFolder(places) });
    return keptSchema.parse(JSON.parse(payload.toString('utf8')));
  }

  async *packKept(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let isFirst = true; ; isFirst = false) {
      const { payload } = await this.#ask({ kind: 'pack-kept', isFirst });
      if (payload.length === 0) return;
      yield payload;
    }
  }

  /** `archive`: its path in the folder. */
  async unpackKept(archive: string, places: KeptPlaces): Promise<number> {
    const { payload } = await this.#ask({ kind: 'unpack-kept', archive, places: this.#withinFolder(places) }, UNPACK_MS);
    return z.number().parse(JSON.parse(payload.toString('utf8')));
  }

  /** It starts in the folder, and may not be able to go through those above. */
  #withinFolder({ work, session, ...rest }: KeptPlaces): KeptPlaces {
    const start = `${this.#place.folder}/`;
    const shorten = (path: string): string => (path.startsWith(start) ? path.slice(start.length) : path);
    return { ...rest, work: work && shorten(work), session: session && { ...session, folder: shorten(session.folder) } };
  }

  async clear(): Promise<void> {
    await this.#ask({ kind: 'clear' }, CLEAR_MS);
  }

  /** Ends it. The next request starts another one. */
  async end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** One at a time. Rejects with what it refused, and when it ended or took too long. */
  #ask(request: UserRequest, timeoutMs = ANSWER_MS): Promise<Frame> {
    const asked = this.#last.then(() => this.#send(request, timeoutMs));
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  async #send(request: UserRequest, timeoutMs: number): Promise<Frame> {
    const wasRunning = this.#child !== undefined;
    const { stdin, answers } = this.#start();
    stdin.write(`${JSON.stringify(request)}\n`);
    const next = await within(answers.next(), timeoutMs).catch(async (cause: unknown) => {
      await this.end();
      throw cause;
    });
    if (next !== LATE && next.done !== true) {
      if (next.value.kind === 'failure') throw new Error(next.value.payload.toString('utf8'));
      return next.value;
    }
    await this.end();
    // The end of all that ran as the user took it along.
    if (next !== LATE && wasRunning && !NEEDS_FORMER.has(request.kind)) return await this.#send(request, timeoutMs);
    throw new Error(`a process under user ${this.#user.uid} ${next === LATE ? `took more than ${timeoutMs} ms` : 'ended early'}`);
  }

  #start(): { stdin: Writable; answers: AsyncGenerator<Frame> } {
    const { uid, gid } = this.#user;
    const { folder, output, cleared } = this.#place;
    if (this.#child?.stdin && this.#answers) return { stdin: this.#child.stdin, answers: this.#answers };
    // With SIGUSR1 the user's other processes could have it open a debugger.
    const options = ['--disable-sigusr1', '--no-warnings'];
    const child = spawn(process.execPath, [...options, ENTRY, String(uid), String(gid), folder, output, ...cleared], {
      cwd: '/',
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.on('error', () => undefined);
    child.stdin.on('error', () => undefined);
    this.#child = child;
    this.#answers = readFrames(child.stdout);
    return { stdin: child.stdin, answers: this.#answers };
  }
}

async function* readFrames(stdout: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let received = Buffer.alloc(0);
  for await (const piece of stdout) {
    received = Buffer.concat([received, piece]);
    for (let found = decodeFrame(received); found !== null; found = decodeFrame(received)) {
      yield found.frame;
      received = found.rest;
    }
  }
}
