import cluster, { type Worker } from 'node:cluster';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFromGeneration, type ToGeneration } from './messages.ts';

/** What became of the start of a generation: it runs, or the reason why not, for its author. */
export type StartResult = { readonly kind: 'ready' } | { readonly kind: 'failed'; readonly message: string };

const ENTRY = fileURLToPath(new URL(`generation-main${extname(import.meta.url)}`, import.meta.url));

/** Generation is responsible for one process that runs the fleet with the files as they were at its start. */
export class Generation {
  readonly started: Promise<StartResult>;
  /** Resolves with the way in which it ended. */
  readonly ended: Promise<string>;
  readonly #worker: Worker;

  /** `onFile` gets each file of the author's before it is loaded. */
  constructor(worker: Worker, onFile: (file: string) => void) {
    this.#worker = worker;
    const started = Promise.withResolvers<StartResult>();
    const ended = Promise.withResolvers<string>();
    this.started = started.promise;
    this.ended = ended.promise;
    worker.on('message', (message) => {
      if (!isFromGeneration(message)) return;
      if (message.kind === 'file') onFile(message.file);
      else started.resolve(message);
    });
    worker.on('error', () => undefined);
    worker.process.once('exit', (code, signal) => {
      const how = signal === null ? `its process ended with code ${code}` : `its process was ended by ${signal}`;
      started.resolve({ kind: 'failed', message: how });
      ended.resolve(how);
    });
  }

  /** It takes nothing more, and ends once all that runs there has ended. */
  retire(): void {
    this.#send({ kind: 'retire' });
  }

  /** It ends within the grace of the environment. */
  stop(): void {
    this.#send({ kind: 'stop' });
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  #send(message: ToGeneration): void {
    // One that has ended reports that by itself.
    if (this.#worker.isConnected()) this.#worker.send(message, () => undefined);
  }
}

interface ForkOptions {
  /** For its environment. */
  variables: Record<string, string>;
  /** Whether it prints addresses and key. */
  isFirst: boolean;
  onFile: (file: string) => void;
}

/** Starts a generation. All of them share the port, which this process listens on. */
export function forkGeneration({ variables, isFirst, onFile }: ForkOptions): Generation {
  cluster.setupPrimary({ exec: ENTRY, args: isFirst ? ['--announce'] : [] });
  return new Generation(cluster.fork(variables), onFile);
}
