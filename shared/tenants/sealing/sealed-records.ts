import type { Seal } from './seal.ts';

/** Members of a tenant's records whose texts are sealed, by kind of record. */
const SEALED_MEMBERS = {
  agents: ['apiKey', 'secret', 'headers'],
  hooks: ['secret', 'formerSecrets'],
  callbacks: ['secret', 'previous', 'earlier'],
} as const;
type SealedKind = keyof typeof SEALED_MEMBERS;

/** One record of a tenant. What signs its callbacks has no id. */
export interface RecordPlace {
  readonly kind: SealedKind;
  readonly tenant: string;
  readonly id: string;
}

/** JSON of a record as it is to be stored. */
export function sealRecord(seal: Pick<Seal, 'seal'>, place: RecordPlace, record: object): string {
  return JSON.stringify(mapSecrets(place.kind, record, (text) => seal.seal(text, contextOf(place))));
}

/** A record of its JSON as it is stored. Errors: `seal.key-lost`. */
export function openRecord(seal: Seal, place: RecordPlace, stored: string): unknown {
  return mapSecrets(place.kind, JSON.parse(stored), (text) => seal.open(text, contextOf(place)));
}

/** JSON of a stored record with its secrets sealed by the key of now. Errors: `seal.key-lost`. */
export function sealAgain(seal: Seal, place: RecordPlace, stored: string): string {
  const context = contextOf(place);
  return JSON.stringify(mapSecrets(place.kind, JSON.parse(stored), (text) => seal.seal(seal.open(text, context), context)));
}

/** The secrets of a record as they are stored. */
export function secretsIn(kind: SealedKind, stored: string): string[] {
  const found: string[] = [];
  mapSecrets(kind, JSON.parse(stored), (text) => {
    found.push(text);
    return text;
  });
  return found;
}

function contextOf({ kind, tenant, id }: RecordPlace): string {
  return `${kind}/${tenant}/${id}`;
}

function mapSecrets(kind: SealedKind, record: unknown, change: (text: string) => string): unknown {
  if (!isRecord(record)) return record;
  const changed = SEALED_MEMBERS[kind].flatMap((name) => (name in record ? [[name, mapTexts(record[name], change)] as const] : []));
  return { ...record, ...Object.fromEntries(changed) };
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapTexts(each, change)]));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
