import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeldFailure } from '../../../errors/index.ts';
import { HOLD_ORDER, type HoldKind } from '../../../ledger/index.ts';
import { processNamespace } from '../processes/process-table.ts';
import { type Hold, HoldFiles } from './hold-files.ts';

/** A task that was refused asks again after this, and somewhat longer, unless it is released sooner. */
const AGAIN_MS = 10_000;
/** A tenant that did not ask again for so long waits no more. */
const ASKED_MS = 4 * AGAIN_MS;

/** The gate of commands that wait for others: for a user of their own, or for their tenant's turn. */
export const COMMANDS_KIND: HoldKind = {
  gate: 'commands',
  sort: 'hold',
  waits:
    "until other [commands](agents.md#users) have ended: another tenant's, where all run as one user, or any, where all `commands.users` are taken",
  limit: 'one tenant, or one command for each user',
  order: HOLD_ORDER,
  opens: 'the end of other commands',
  helps:
    'It starts when other commands have ended. An operator can give attempts (more) users of their own by `commands.users`, or set `commands.sharedUser`.',
};

/** What holds the tasks of a tenant whose turn it is not. */
export const TURN = { gate: 'commands', what: 'tenant' } as const;

interface Asked {
  readonly since: number;
  readonly last: number;
}

/**
 * TenantTurn is responsible for whose commands run where all run as one user, who can read and change what any of them has: those of one
 * tenant at a time, in whichever worker of this user on the machine. A tenant that waits stops the others' next attempts, so that its turn comes.
 */
export class TenantTurn {
  readonly #folders: readonly string[];
  readonly #onFree: (tenant: string) => void;
  /** Tenants whose attempts were refused. */
  readonly #asked = new Map<string, Asked>();

  /** `onFree` is called with the tenant that waited longest once nobody's commands run. */
  constructor(parent = tmpdir(), onFree: (tenant: string) => void = () => undefined) {
    this.#onFree = onFree;
    // Those of another container concern nobody here: their programs cannot see each other.
    const name = `muster-tenants-${process.getuid?.() ?? 'own'}-${processNamespace() ?? ''}`;
    this.#folders = [tmpdir(), parent].map((each) => join(each, name));
  }

  /** Resolves with what ends the turn of this attempt. Errors: a `HeldFailure` while it is another tenant's turn. */
  async take(tenant: string, mark: string): Promise<() => Promise<void>> {
    const holds = await HoldFiles.open(this.#folders);
    const own = { key: tenant, mark };
    await holds.add(own);
    const running = (await holds.list()).filter((hold) => hold.mark !== mark && !hold.isLeft);
    const other = running.find((hold) => hold.key !== tenant)?.key ?? this.#waitsLonger(tenant);
    if (other === undefined) {
      this.#asked.delete(tenant);
      return () => this.#end(holds, own);
    }
    await holds.remove(own);
    const now = performance.now();
    this.#asked.set(tenant, { since: this.#asked.get(tenant)?.since ?? now, last: now });
    throw new HeldFailure('THROTTLED', 'Commands run as one user here, so those of one tenant at a time, and now those of another tenant', {
      hold: TURN,
      retryAfterMs: Math.round(AGAIN_MS * (1 + Math.random() / 3)),
    });
  }

  async #end(holds: HoldFiles, own: Hold): Promise<void> {
    await holds.remove(own);
    const [next] = [...this.#asked].toSorted(([, a], [, b]) => a.since - b.since);
    if (next !== undefined && (await holds.list()).every(({ isLeft }) => isLeft)) this.#onFree(next[0]);
  }

  /** Another tenant that waits for longer than this one, if any. */
  #waitsLonger(tenant: string): string | undefined {
    const now = performance.now();
    for (const [each, { last }] of this.#asked) if (now - last > ASKED_MS) this.#asked.delete(each);
    const since = this.#asked.get(tenant)?.since ?? now;
    return [...this.#asked].find(([each, asked]) => each !== tenant && asked.since < since)?.[0];
  }
}
