/** What every library of schemas has under this name (Standard Schema), as far as its types go. */
interface TypedSchema {
  readonly '~standard': { readonly types?: { readonly input: unknown; readonly output: unknown } | undefined };
}

/**
 * The agents of a fleet by name: `typeof agents` of its configuration. Of each the client reads the types of `input`, `output` and `run`, and
 * nothing at run time.
 */
export type AgentMap = Readonly<Record<string, object>>;

type TypesOf<Schema extends TypedSchema> = NonNullable<Schema['~standard']['types']>;

/** Kinds of agents that answer with text. */
type TextKind = 'echo' | 'openai';

/** What an agent is sent: JSON that its `input` takes; text for one without. */
export type InputOf<Agent> = object extends Agent
  ? unknown
  : Agent extends { readonly input: infer Schema extends TypedSchema }
    ? TypesOf<Schema>['input']
    : string;

/** What `result()` resolves to: what `output` gives, else what `run` returns, else the text of an agent that has only that. */
export type ResultOf<Agent> = object extends Agent
  ? unknown
  : Agent extends { readonly output: infer Schema extends TypedSchema }
    ? TypesOf<Schema>['output']
    : Agent extends { readonly run: (...args: never) => infer Returned }
      ? Awaited<Returned>
      : Agent extends { readonly kind: TextKind }
        ? string
        : unknown;
