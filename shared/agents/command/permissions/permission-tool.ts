import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { AgentLog } from '../../../config/index.ts';
import { Ticker } from '../../../time/index.ts';
import type { AttemptFolder, OutputListing } from '../folder/attempt-folder.ts';
import { isForEveryUser } from '../start/program-file.ts';
import type { PermissionRequest, Permissions } from './permissions.ts';

/** In `out`, where the program may write and this process may read with the program's rights. */
export const REQUEST_FILE = '.muster-permission';
const [ANSWERS_FILE, CONFIG_FILE] = ['permissions.json', 'mcp.json'];
/** As they are named here, in a clone and in the package. */
const EXTENSION = extname(import.meta.url);

/** Between two looks whether the program asks, ms. */
const LOOK_MS = 500;
const MAX_REQUEST_BYTES = 1024 * 1024;

const requestSchema = z.object({ tool: z.string().min(1).max(200), input: z.unknown() });

interface PermissionToolOptions {
  readonly permissions: Permissions;
  readonly folder: AttemptFolder;
  readonly log: AgentLog;
}

/**
 * PermissionTool is responsible for a program that asks by a tool of MCP: it puts the tool's server beside the attempt's folders, and reads and answers what
 * comes through that. Between them are two files, so that a program without a network can ask too.
 */
export class PermissionTool {
  readonly #permissions: Permissions;
  readonly #folder: AttemptFolder;
  readonly #ticker: Ticker;

  constructor({ permissions, folder, log }: PermissionToolOptions) {
    this.#permissions = permissions;
    this.#folder = folder;
    this.#ticker = new Ticker({
      everyMs: LOOK_MS,
      run: () => this.#look(),
      onError: (error) => log.debug({ err: error }, 'the request of a program could not be read now'),
    });
  }

  /** Puts what the program needs to ask beside its folders. Resolves with its further words. */
  async prepare(): Promise<string[]> {
    const folder = this.#folder;
    await this.#copyBeside(`call-digest${EXTENSION}`);
    const server = await this.#copyBeside(`permission-main${EXTENSION}`);
    const answers = await this.#writeAnswers();
    const node = (await isForEveryUser(process.execPath)) ? process.execPath : 'node';
    const args = ['--no-warnings', server, answers, `${folder.out}/${REQUEST_FILE}`, folder.path];
    const config = await folder.writeBeside(CONFIG_FILE, JSON.stringify({ mcpServers: { muster: { command: node, args } } }));
    return ['--permission-prompt-tool', 'mcp__muster__approve', '--mcp-config', config];
  }

  async #copyBeside(name: string): Promise<string> {
    return await this.#folder.writeBeside(name, await readFile(new URL(name, import.meta.url), 'utf8'));
  }

  async #writeAnswers(): Promise<string> {
    return await this.#folder.writeBeside(ANSWERS_FILE, JSON.stringify(this.#permissions.answers));
  }

  /** Looks again and again whether the program asks, until `close`. */
  start(): void {
    this.#ticker.start();
  }

  async close(): Promise<void> {
    await this.#ticker.stop();
  }

  async #look(): Promise<void> {
    const request = await this.#readRequest();
    if (request === null || this.#permissions.find(request) !== null) return;
    if ((await this.#permissions.decide(request)) !== null) await this.#writeAnswers();
  }

  async #readRequest(): Promise<PermissionRequest | null> {
    const file = (await this.#folder.listOutput()).files.find(({ name }) => name === REQUEST_FILE);
    if (file === undefined || file.bytes > MAX_REQUEST_BYTES) return null;
    return requestSchema.parse(JSON.parse(await text(file.read())));
  }
}

/** What a program left besides what it asked. */
export function withoutRequest({ files, leftOut }: OutputListing): OutputListing {
  return { files: files.filter(({ name }) => !name.startsWith(REQUEST_FILE)), leftOut };
}
