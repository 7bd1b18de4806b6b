import { MusterError } from '../errors/index.ts';
import type { Finding, FindingCode } from './finding.ts';

/** What an inspection says of the facts. */
export interface Verdict {
  readonly findings: readonly Finding[];
  /** What is there, for a row of `npx muster doctor`; absent where the findings say it all. */
  readonly note?: string | null;
  /** Whether a finding of before still stands that the facts no longer show. Absent: none does. */
  readonly keeps?: (finding: Finding) => boolean;
}

/** How much a look reads: what is cheap (`quick`), what a page waits for (`usual`), or also many records (`deep`). */
const DEPTHS = ['quick', 'usual', 'deep'] as const;
export type Depth = (typeof DEPTHS)[number];

/** The inspections of a look of this depth. What the others found before stands. */
export function atDepth<Facts>(inspections: readonly Inspection<Facts>[], depth: Depth): Inspection<Facts>[] {
  return inspections.filter((each) => DEPTHS.indexOf(each.depth ?? 'quick') <= DEPTHS.indexOf(depth));
}

/** One thing that is looked at, and what can be found there. */
export interface Inspection<Facts> {
  /** Of its row in `npx muster doctor`. */
  readonly name: string;
  readonly codes: readonly FindingCode[];
  /** From which depth on it is made. Defaults to `quick`. */
  readonly depth?: Depth;
  /** Judges facts, which all inspections read once. Rejects where a fact cannot be read. */
  readonly look: (facts: Facts) => Promise<Verdict>;
}

/** What an inspection found; or why nothing is known, which leaves what was found before as it is. */
export interface Inspected {
  readonly name: string;
  readonly codes: readonly FindingCode[];
  readonly result: Verdict | { readonly skipped: string };
}

/** Makes inspections together. One that cannot be made keeps no other from being made. */
export async function inspectAll<Facts>(inspections: readonly Inspection<Facts>[], facts: Facts): Promise<Inspected[]> {
  return await Promise.all(
    inspections.map(async ({ name, codes, look }) => {
      const result = await look(facts).catch((error: unknown) => ({ skipped: reasonOf(error) }));
      return { name, codes, result };
    }),
  );
}

/** Reads a fact when the first inspection asks for it, and gives the others the same. */
export function once<Fact>(read: () => Promise<Fact>): () => Promise<Fact> {
  let reading: Promise<Fact> | undefined;
  return () => (reading ??= read());
}

export function reasonOf(error: unknown): string {
  if (error instanceof MusterError) return error.code;
  return error instanceof Error ? error.message : String(error);
}
