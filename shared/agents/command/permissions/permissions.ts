import { z } from 'zod';
import { ellipsize, plainLine, withoutDirections } from '../../../text/index.ts';
import type { AttemptCheckpoint } from '../../agent-kind.ts';
import type { CommandRun } from '../command-run.ts';
import type { AttemptFolder } from '../folder/attempt-folder.ts';
import { callDigest } from './call-digest.ts';

/** Of the input, as people see it. */
const MAX_SHOWN = 3000;
/** Of what the program says why. */
const MAX_REASON = 500;
/** Answers of one run. */
const MAX_GIVEN = 200;

/** What a program asks for. */
export interface PermissionRequest {
  readonly tool: string;
  /** What it would be used with. An answer is for this and nothing else. */
  readonly input?: unknown;
  /** What people are shown besides: the program may say it otherwise when it asks again. An answer counts with or without one, as it was asked. */
  readonly reason?: string | undefined;
}

const givenSchema = z.record(z.string(), z.object({ isAllowed: z.boolean(), message: z.string() }));
type Given = z.infer<typeof givenSchema>;

/** What a program is told: `message` says why not. */
export type PermissionDecision = Given[string];

const askedSchema = z.object({ tool: z.string(), digest: z.string() });

/** What a checkpoint has between the attempts of a run. `asked`: what nobody has answered when it was kept. */
const checkpointSchema = z.object({
  permissions: z.object({ given: givenSchema, tools: z.array(z.string()), asked: askedSchema.optional() }),
});

const [APPROVE, REFUSE] = ['approve', 'refuse'];

function approveAll(tool: string): string {
  return `approve ${tool} for this task`.slice(0, 100);
}

const ALLOWED: PermissionDecision = { isAllowed: true, message: '' };

interface PermissionsOptions {
  readonly run: CommandRun;
  readonly folder: Pick<AttemptFolder, 'path'>;
}

/** What is done with the program. */
interface Asking {
  /** It is quiet while people are asked, and then no more. */
  readonly onWait: (isWaiting: boolean) => void;
  /** Nobody has answered: it is to end. */
  readonly onUnanswered: () => void;
}

/**
 * Permissions is responsible for what a coding agent asks before it uses a tool, however it asks: each such request becomes a question to people. The program
 * goes on with an answer that comes soon; else it is ended, so that it holds no slot, and goes on in its session with the answer.
 */
export class Permissions {
  readonly #run: CommandRun;
  readonly #folder: string;
  readonly #checkpoint: AttemptCheckpoint | undefined;
  #given: Given = {};
  #tools: readonly string[] = [];
  #news: string | null = null;
  #isUnanswered = false;
  #isOpen = false;
  readonly #closing = new AbortController();
  #asking: Asking | undefined;
  /** The request that people are asked about, and those behind it. */
  #line: Promise<unknown> = Promise.resolve();

  constructor({ run, folder }: PermissionsOptions) {
    this.#run = run;
    this.#folder = folder.path;
    this.#checkpoint = run.definition.permissions === undefined ? undefined : run.checkpoint;
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

  /** What people have answered, by digest of the tool and its input; and tools that may be used whatever their input is. */
  get answers(): { readonly given: Given; readonly tools: readonly string[] } {
    return { given: this.#given, tools: this.#tools };
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
  #take({ tool, digest }: z.infer<typeof askedSchema>, answer: unknown): PermissionDecision {
    const isAllowed = answer === APPROVE || answer === approveAll(tool);
    const message =
      answer === null ? 'Nobody answered in time. Go on without it.' : 'A person refused it. Go on without it, or say why you cannot.';
    const given = { isAllowed, message };
    this.#given = Object.fromEntries([...Object.entries(this.#given), [digest, given] as const].slice(-MAX_GIVEN));
    if (answer === approveAll(tool)) this.#tools = [...this.#tools, tool];
    return given;
  }

  /** Says what is done with the program while people are asked. */
  watch(asking: Asking): void {
    this.#asking = asking;
  }

  /** Asks no more. Resolves once nothing is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#line;
  }

  /** The program has ended well. What it still asks is of no use. */
  async drop(): Promise<void> {
    if (this.#isOpen) await this.#keep({ permissions: {} });
  }

  /** What people have said of it; null for nothing. */
  find(request: PermissionRequest): PermissionDecision | null {
    return this.#tools.includes(request.tool) ? ALLOWED : (this.#given[this.#digestOf(request)] ?? null);
  }

  /** The program itself could say that it is another one. */
  #digestOf({ tool, input, reason }: PermissionRequest): string {
    return callDigest(reason === undefined ? tool : `${tool} for a reason`, input, this.#folder);
  }

  /** Has people decide, about one request after the other. Resolves with null where nobody has answered, and the program is to end. */
  async decide(request: PermissionRequest): Promise<PermissionDecision | null> {
    const decision = this.#line.then(() => this.#decide(request));
    this.#line = decision.catch(() => undefined);
    return await decision;
  }

  async #decide(request: PermissionRequest): Promise<PermissionDecision | null> {
    if (this.#isUnanswered || this.#closing.signal.aborted) return null;
    return this.find(request) ?? (await this.#ask(request));
  }

  /** Has people asked. Once the checkpoint says so, the run comes to that question whatever happens to this process. */
  async #ask(request: PermissionRequest): Promise<PermissionDecision | null> {
    const { tool } = request;
    const { definition, task } = this.#run;
    const asked = { tool, digest: this.#digestOf(request) };
    const ask = {
      question: questionOf(task.agent, request, asked.digest),
      choices: [APPROVE, approveAll(tool), REFUSE],
      ...(typeof definition.permissions === 'object' && definition.permissions),
    };
    this.#isOpen = true;
    await this.#keep({ permissions: { asked }, suspend: { ask } });
    const answer = await this.#awaitAnswer();
    if (answer === null) return this.#leaveOpen();
    const decision = this.#take(asked, readJson(answer));
    this.#isOpen = !(await this.#keepAnswer());
    return decision;
  }

  #leaveOpen(): null {
    // It has ended by itself.
    if (this.#closing.signal.aborted) return null;
    this.#isUnanswered = true;
    this.#asking?.onUnanswered();
    return null;
  }

  /** JSON of the answer; null where there is none soon. */
  async #awaitAnswer(): Promise<string | null> {
    const { askFor } = this.#checkpoint ?? {};
    if (!askFor) return null;
    this.#asking?.onWait(true);
    try {
      return await askFor(this.#closing.signal);
    } catch (error) {
      this.#run.context.log.debug({ err: error }, 'the answer to the request of a program could not be awaited');
      return null;
    } finally {
      this.#asking?.onWait(false);
    }
  }

  /** Whether it is kept. Where a daemon cannot reach the API now, the journal has the answer, and `drop` keeps it. */
  async #keepAnswer(): Promise<boolean> {
    try {
      await this.#keep({ permissions: {} });
      return true;
    } catch (error) {
      this.#run.context.log.debug({ err: error }, 'the answer to the request of a program could not be kept now');
      return false;
    }
  }

  async #keep({ permissions, ...rest }: { permissions: object; suspend?: object }): Promise<void> {
    await this.#checkpoint?.keep(JSON.stringify({ permissions: { given: this.#given, tools: this.#tools, ...permissions }, ...rest }));
  }
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
function questionOf(agent: string, { tool, input, reason }: PermissionRequest, digest: string): string {
  const all = withoutDirections(JSON.stringify(input, null, 2) ?? '');
  const shown = all.length > MAX_SHOWN ? `${ellipsize(all, MAX_SHOWN)}\n(${all.length} characters in all)` : all;
  const why = reason === undefined ? '' : `\nIt says: ${ellipsize(plainLine(reason), MAX_REASON)}`;
  return `May the agent "${agent}" use ${tool} with this?\n${shown}${why}\nsha256 ${digest}`;
}
