import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { ellipsize, withoutDirections } from '../../../text/index.ts';
import { Ticker } from '../../../time/index.ts';
import type { AttemptCheckpoint } from '../../agent-kind.ts';
import type { CommandRun } from '../command-run.ts';
import type { AttemptFolder, OutputListing } from '../folder/attempt-folder.ts';
import { callDigest } from './call-digest.ts';
import { isForEveryUser } from '../start/program-file.ts';

/** In `out`, where the program may write and this process may read with the program's rights. */
export const REQUEST_FILE = '.muster-permission';
const [ANSWERS_FILE, CONFIG_FILE] = ['permissions.json', 'mcp.json'];
/** As they are named here, in a clone and in the package. */
const EXTENSION = extname(import.meta.url);

/** Between two looks whether the program asks, ms. */
const LOOK_MS = 500;
const MAX_REQUEST_BYTES = 1024 * 1024;
/** Of the input, as people see it. */
const MAX_SHOWN = 3000;
/** Answers of one run. */
const MAX_GIVEN = 200;

const requestSchema = z.object({ tool: z.string().min(1).max(200), input: z.unknown() });

interface Request extends z.infer<typeof requestSchema> {
  readonly digest: string;
}

const givenSchema = z.record(z.string(), z.object({ isAllowed: z.boolean(), message: z.string() }));

const askedSchema = z.object({ tool: z.string(), digest: z.string() });

/** What a checkpoint has between the attempts of a run. `asked`: what nobody has answered when it was kept. */
const checkpointSchema = z.object({
  permissions: z.object({ given: givenSchema, tools: z.array(z.string()), asked: askedSchema.optional() }),
});

const [APPROVE, REFUSE] = ['approve', 'refuse'];

function approveAll(tool: string): string {
  return `approve ${tool} for this task`.slice(0, 100);
}

interface PermissionsOptions {
  readonly run: CommandRun;
  readonly folder: AttemptFolder;
  /** How long the program goes on while people are asked, ms. */
  readonly waitMs: number;
}

/** What is done with the program. */
interface Asking {
  /** It is quiet while people are asked, and then no more. */
  readonly onWait: (isWaiting: boolean) => void;
  /** Nobody has answered: it is to end. */
  readonly onUnanswered: () => void;
}

/**
 * Permissions is responsible for what a coding agent asks before it uses a tool: each such request becomes a question to people. The program goes on
 * with an answer that comes soon; else it is ended, so that it holds no slot, and goes on in its session with the answer.
 */
export class Permissions {
  readonly #run: CommandRun;
  readonly #folder: AttemptFolder;
  readonly #waitMs: number;
  readonly #checkpoint: AttemptCheckpoint | undefined;
  readonly #ticker: Ticker;
  #given: z.infer<typeof givenSchema> = {};
  #tools: readonly string[] = [];
  #news: string | null = null;
  #isUnanswered = false;
  #isOpen = false;
  readonly #closing = new AbortController();
  #asking: Asking | undefined;

  constructor({ run, folder, waitMs }: PermissionsOptions) {
    this.#run = run;
    this.#folder = folder;
    this.#waitMs = waitMs;
    this.#checkpoint = run.definition.permissions === undefined ? undefined : run.checkpoint;
    this.#ticker = new Ticker({
      everyMs: LOOK_MS,
      run: () => this.#look(),
      onError: (error) => run.context.log.debug({ err: error }, 'the request of a program could not be read now'),
    });
    this.#resume();
  }

  /** Whether its program asks. */
  get isOn(): boolean {
    return this.#checkpoint !== undefined;
  }

  /** Whether the program was ended because nobody has answered. */
  get isUnanswered(): boolean {
    return this.#isUnanswered;
  }

  /** What people have answered since the program was ended; null for nothing. */
  get news(): string | null {
    return this.#news;
  }

  /** Takes the answer that resumed the run. */
  #resume(): void {
    const read = checkpointSchema.safeParse(readJson(this.#checkpoint?.text ?? null));
    if (!read.success) return;
    const { given, tools, asked } = read.data.permissions;
    [this.#given, this.#tools] = [given, tools];
    if (asked === undefined) return;
    const { isAllowed, message } = this.#take(asked, readJson(this.#checkpoint?.resumed ?? null));
    this.#news = isAllowed
      ? `You asked whether you may use ${asked.tool}, and a person allowed it. Use it again as before, and go on where you stopped. You were asked:`
      : `You asked whether you may use ${asked.tool}. ${message} You were asked:`;
  }

  /** Takes an answer; null is that of nobody in time. */
  #take({ tool, digest }: z.infer<typeof askedSchema>, answer: unknown): z.infer<typeof givenSchema>[string] {
    const isAllowed = answer === APPROVE || answer === approveAll(tool);
    const message =
      answer === null ? 'Nobody answered in time. Go on without it.' : 'A person refused it. Go on without it, or say why you cannot.';
    const given = { isAllowed, message };
    this.#given = Object.fromEntries([...Object.entries(this.#given), [digest, given] as const].slice(-MAX_GIVEN));
    if (answer === approveAll(tool)) this.#tools = [...this.#tools, tool];
    return given;
  }

  /** Puts what the program needs to ask beside its folders. Resolves with its further words. */
  async prepare(): Promise<string[]> {
    if (!this.isOn) return [];
    const folder = this.#folder;
    await this.#copyBeside(`call-digest${EXTENSION}`);
    const server = await this.#copyBeside(`permission-main${EXTENSION}`);
    const answers = await this.#writeAnswers();
    const node = (await isForEveryUser(process.execPath)) ? process.execPath : 'node';
    const args = ['--no-warnings', server, answers, `${folder.out}/${REQUEST_FILE}`];
    const config = await folder.writeBeside(CONFIG_FILE, JSON.stringify({ mcpServers: { muster: { command: node, args } } }));
    return ['--permission-prompt-tool', 'mcp__muster__approve', '--mcp-config', config];
  }

  async #copyBeside(name: string): Promise<string> {
    return await this.#folder.writeBeside(name, await readFile(new URL(name, import.meta.url), 'utf8'));
  }

  async #writeAnswers(): Promise<string> {
    return await this.#folder.writeBeside(ANSWERS_FILE, JSON.stringify({ given: this.#given, tools: this.#tools }));
  }

  /** Looks again and again whether the program asks, until `close`. */
  watch(asking: Asking): void {
    if (!this.isOn) return;
    this.#asking = asking;
    this.#ticker.start();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#ticker.stop();
  }

  /** The program has ended well. What it still asks is of no use. */
  async drop(): Promise<void> {
    if (this.#isOpen) await this.#keep({ permissions: {} });
  }

  async #look(): Promise<void> {
    if (this.#isUnanswered || this.#closing.signal.aborted) return;
    const request = await this.#readRequest();
    if (request !== null) await this.#ask(request);
  }

  /** What the program asks, and has no answer to; null for nothing. */
  async #readRequest(): Promise<Request | null> {
    const file = (await this.#folder.listOutput()).files.find(({ name }) => name === REQUEST_FILE);
    if (file === undefined || file.bytes > MAX_REQUEST_BYTES) return null;
    const request = requestSchema.parse(JSON.parse(await text(file.read())));
    // The program itself could say that it is another one.
    const digest = callDigest(request.tool, request.input);
    return this.#given[digest] || this.#tools.includes(request.tool) ? null : { ...request, digest };
  }

  /** Has people asked. Once the checkpoint says so, the run comes to that question whatever happens to this process. */
  async #ask(request: Request): Promise<void> {
    const { tool, digest } = request;
    const { permissions } = this.#run.definition;
    const ask = {
      question: questionOf(this.#run.task.agent, request),
      choices: [APPROVE, approveAll(tool), REFUSE],
      ...(typeof permissions === 'object' && permissions),
    };
    this.#isOpen = true;
    await this.#keep({ permissions: { asked: { tool, digest } }, suspend: { ask } });
    const answer = await this.#awaitAnswer();
    if (answer === null) return this.#leaveOpen();
    this.#take(request, readJson(answer));
    await this.#keep({ permissions: {} });
    this.#isOpen = false;
    await this.#writeAnswers();
  }

  #leaveOpen(): void {
    // It has ended by itself.
    if (this.#closing.signal.aborted) return;
    this.#isUnanswered = true;
    this.#asking?.onUnanswered();
  }

  /** JSON of the answer; null where there is none soon. */
  async #awaitAnswer(): Promise<string | null> {
    const { askFor } = this.#checkpoint ?? {};
    if (!askFor || this.#waitMs === 0) return null;
    this.#asking?.onWait(true);
    try {
      return await askFor(this.#waitMs, this.#closing.signal);
    } catch (error) {
      this.#run.context.log.debug({ err: error }, 'the answer to the request of a program could not be awaited');
      return null;
    } finally {
      this.#asking?.onWait(false);
    }
  }

  async #keep({ permissions, ...rest }: { permissions: object; suspend?: object }): Promise<void> {
    await this.#checkpoint?.keep(JSON.stringify({ permissions: { given: this.#given, tools: this.#tools, ...permissions }, ...rest }));
  }
}

/** What a program left besides what it asked. */
export function withoutRequest({ files, leftOut }: OutputListing): OutputListing {
  return { files: files.filter(({ name }) => !name.startsWith(REQUEST_FILE)), leftOut };
}

function readJson(json: string | null): unknown {
  if (json === null) return null;
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return null;
  }
}

/** All of it that fits, with how much does not, and what it is by its digest. */
function questionOf(agent: string, { tool, input, digest }: Request): string {
  const all = withoutDirections(JSON.stringify(input, null, 2) ?? '');
  const shown = all.length > MAX_SHOWN ? `${ellipsize(all, MAX_SHOWN)}\n(${all.length} characters in all)` : all;
  return `May the agent "${agent}" use ${tool} with this?\n${shown}\nsha256 ${digest}`;
}
