import type { JSONRPCMessage, MCPTransport } from '@ai-sdk/mcp';
import { z } from 'zod';
import { splitLines } from '../command/read-output.ts';
import type { ServingProgram } from './serving-program.ts';

/** A message of JSON-RPC, as far as it has to be known here: the client checks the rest. */
const messageSchema = z.custom<JSONRPCMessage>(
  (value) => typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0',
);

/**
 * StdioTransport is responsible for the messages to and from a program: a line of JSON each. What is no message, as a program's log on its stdout,
 * is left out.
 */
export class StdioTransport implements MCPTransport {
  readonly #program: ServingProgram;
  #closing: Promise<void> | undefined;
  #isClosed = false;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(program: ServingProgram) {
    this.#program = program;
  }

  async start(): Promise<void> {
    const { stdout } = this.#program;
    const lines = splitLines(
      (line) => this.#take(line),
      () => this.#fail('The program wrote a message of too many characters'),
    );
    stdout.setEncoding('utf8');
    stdout.on('data', (text: string) => lines.write(text));
    // Nobody reads it, and a full pipe would hold the program up.
    this.#program.stderr.resume();
    void this.#whenEnded();
    return await Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#program;
    if (!stdin.writable) throw new Error('The program has ended');
    await new Promise<void>((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends the program, once. */
  async close(): Promise<void> {
    this.#closing ??= this.#program.close();
    await this.#closing;
    this.#noteClosed();
  }

  async #whenEnded(): Promise<void> {
    const how = await this.#program.ended;
    if (this.#closing === undefined) this.onerror?.(new Error(`The program has ended (${how})`));
    this.#noteClosed();
  }

  #noteClosed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  #fail(why: string): void {
    this.onerror?.(new Error(why));
    void this.close();
  }

  #take(line: string): void {
    if (this.#closing !== undefined) return;
    const message = readMessage(line);
    if (message) this.onmessage?.(message);
  }
}

function readMessage(line: string): JSONRPCMessage | null {
  try {
    return messageSchema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}
