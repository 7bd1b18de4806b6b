import { createMCPClient, type ListToolsResult, type MCPClient, type MCPTransport } from '@ai-sdk/mcp';
import type { McpServer } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { GuardedFetch } from '../guarded-fetch.ts';
import type { ServedTools } from '../loop/tool-box.ts';
import { asSchema } from '../loop/tool-schema.ts';
import type { ToolSpec } from '../loop/tool-spec.ts';
import { inFewWords, isForgotten, isRefusal, mcpFailure, unreachable } from './mcp-failure.ts';
import { textOfResult } from './mcp-result.ts';

export interface McpClientsOptions {
  readonly servers: Readonly<Record<string, McpServer>>;
  readonly fetch: GuardedFetch;
  /** Starts the program of a server, kept apart as a command agent is. */
  readonly openProgram: (program: Extract<McpServer, { command: string[] }>) => Promise<MCPTransport>;
  readonly signal: AbortSignal;
}

/** Of one server, far above any that there is. */
const MAX_TOOLS = 500;
const MAX_PAGES = 50;
/** To connect, list, and call, ms; a call may take as long as its attempt. */
const START_MS = 30_000;
const GOODBYE_MS = 1000;

/**
 * McpClients is responsible for the connections of one run to servers of the Model Context Protocol: each is made when the run first needs it, and
 * closed with the run. What servers say is the text of strangers: it is given to the model as data, and bounded.
 */
export class McpClients implements ServedTools {
  readonly #options: McpClientsOptions;
  readonly #clients = new Map<string, Promise<MCPClient>>();
  /** Why the last request to a server got no answer: its client does not say. */
  readonly #failures = new Map<string, TaskFailure>();

  constructor(options: McpClientsOptions) {
    this.#options = options;
  }

  /** The tools that a server has now, of those that are allowed. Errors: RESOURCE_NOT_FOUND; MCP_ERROR, NETWORK_ERROR, PERMISSION_DENIED of a server. */
  async list(server: string): Promise<ToolSpec[]> {
    const { allow } = this.#serverOf(server);
    const tools = await this.#with(server, listAll, () => true);
    return tools
      .filter(({ name }) => allow === undefined || allow.includes(name))
      .map(({ name, description = '', inputSchema }) => ({
        name: nameOf(name),
        description,
        schema: asSchema(inputSchema),
        of: 'mcp',
        server,
        at: name,
      }));
  }

  /** What a tool of a server gives, as text. Rejects with the tool's own words where it failed. Errors as of `list`. */
  async call(server: string, name: string, input: unknown): Promise<string> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the model's input of a tool is an object; the server checks it
    const given = { name, arguments: input as Record<string, unknown> };
    const result = await this.#with(server, async (client, signal) => {
      try {
        return await client.callTool({ ...given, options: { signal, timeout: MAX_CALL_MS } });
      } catch (error) {
        // The server has answered: its refusal is the tool's.
        if (isRefusal(error)) return { isError: true, content: [{ type: 'text', text: error.message }] };
        throw error;
      }
    });
    const text = textOfResult(result);
    if ('isError' in result && result.isError === true) throw new Error(inFewWords(text));
    return text;
  }

  /** Closes all connections, and ends the programs. Never rejects. */
  async close(): Promise<void> {
    const open = [...this.#clients.values()];
    this.#clients.clear();
    await Promise.all(open.map(async (client) => await client.then((each) => each.close()).catch(() => undefined)));
  }

  /** `mayRepeat`: whether work that failed with an error so on a connection of before is done again on a new one. */
  async #with<T>(
    server: string,
    work: (client: MCPClient, signal: AbortSignal) => Promise<T>,
    mayRepeat: (error: unknown) => boolean = isForgotten,
  ): Promise<T> {
    const { signal } = this.#options;
    for (let isAgain = false; ; isAgain = true) {
      const isKnown = this.#clients.has(server);
      try {
        // A run that goes on unwatched opens nothing.
        signal.throwIfAborted();
        return await work(await this.#client(server), signal);
      } catch (error) {
        signal.throwIfAborted();
        // The next use connects anew: the server may have been restarted. One that does not know the session has not done anything.
        this.#drop(server);
        if (isAgain || !isKnown || !mayRepeat(error)) throw this.#failures.get(server) ?? mcpFailure(server, error);
      }
    }
  }

  #client(server: string): Promise<MCPClient> {
    const known = this.#clients.get(server);
    if (known) return known;
    const opened = this.#open(server);
    this.#clients.set(server, opened);
    return opened;
  }

  #drop(server: string): void {
    const client = this.#clients.get(server);
    this.#clients.delete(server);
    void client?.then((each) => each.close()).catch(() => undefined);
  }

  async #open(server: string): Promise<MCPClient> {
    const { signal, openProgram } = this.#options;
    const at = this.#serverOf(server);
    const transport =
      'url' in at
        ? { type: 'http' as const, url: at.url, headers: at.headers ?? {}, redirect: 'error' as const, fetch: this.#fetchFor(server) }
        : await openProgram(at);
    return await createMCPClient({ transport, clientName: 'muster', initializationOptions: { signal, timeout: START_MS } });
  }

  #fetchFor(server: string): typeof globalThis.fetch {
    const fetchNoted: GuardedFetch = async (url, init) => {
      try {
        this.#failures.delete(server);
        // A client says goodbye when it is closed, which a server may not answer.
        return await this.#options.fetch(url, init?.method === 'DELETE' ? { ...init, signal: AbortSignal.timeout(GOODBYE_MS) } : init);
      } catch (error) {
        this.#failures.set(server, unreachable(server, error));
        throw error;
      }
    };
    // The types of `fetch` in undici and in Node describe the same function by different classes.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return fetchNoted as unknown as typeof globalThis.fetch;
  }

  #serverOf(server: string): McpServer {
    const { servers } = this.#options;
    const found = Object.hasOwn(servers, server) ? servers[server] : undefined;
    if (found) return found;
    throw new TaskFailure('RESOURCE_NOT_FOUND', `There is no MCP server "${server}": the configuration has no mcp.${server}`);
  }
}

/** A call is bounded by its attempt; this is more than any may take. */
const MAX_CALL_MS = 86_400_000;

async function listAll(client: MCPClient, signal: AbortSignal): Promise<ListToolsResult['tools']> {
  const tools: ListToolsResult['tools'] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.length < MAX_TOOLS; page += 1) {
    const listed = await client.listTools({ ...(cursor !== undefined && { params: { cursor } }), options: { signal, timeout: START_MS } });
    tools.push(...listed.tools);
    cursor = listed.nextCursor;
    if (cursor === undefined || cursor === '') break;
  }
  return tools.slice(0, MAX_TOOLS);
}

const NOT_IN_NAMES = /[^A-Za-z0-9_-]/g;
const MAX_NAME = 64;

/** A name that models may be told. */
function nameOf(name: string): string {
  return name.replaceAll(NOT_IN_NAMES, '_').slice(0, MAX_NAME);
}
