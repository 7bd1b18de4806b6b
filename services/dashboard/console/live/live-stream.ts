import { readPerson } from '../api/person.ts';

// One stream of `GET /v1/notifications/stream` for all parts of the page that is shown.

/** `lost` means that a reconnection is pending, and that pages poll. `off`: nothing on the page is live. */
export type LiveState = 'off' | 'connecting' | 'open' | 'lost';

interface LiveEvent {
  readonly kind: string;
  readonly [field: string]: unknown;
}

interface Listener {
  readonly kinds: readonly string[];
  /** Null after a gap, in which events of any kind may be missing. */
  readonly onEvent: (event: LiveEvent | null) => void;
}

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 15_000;
/** A change of pages removes and adds listeners in one go. */
const SETTLE_MS = 50;
/** Browsers share six connections among all tabs of a site, so a tab that is not seen gives its one back. */
const HIDDEN_MS = 10_000;

const listeners = new Set<Listener>();
const stateListeners = new Set<() => void>();
let state: LiveState = 'off';
let source: EventSource | undefined;
/** What the open stream sends, separated by commas. */
let openKinds = '';
let lastEventId = '';
let waitMs = FIRST_WAIT_MS;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Calls `onEvent` for each event of these kinds: names, beginnings like `run.*`, or `*`. Returns a function that ends it. */
export function listenLive(listener: Listener): () => void {
  listeners.add(listener);
  adjustLater(SETTLE_MS);
  return () => {
    listeners.delete(listener);
    adjustLater(SETTLE_MS);
  };
}

export function liveState(): LiveState {
  return state;
}

export function subscribeLiveState(onChange: () => void): () => void {
  stateListeners.add(onChange);
  return () => stateListeners.delete(onChange);
}

function setState(next: LiveState): void {
  if (state === next) return;
  state = next;
  for (const onChange of stateListeners) onChange();
}

function adjustLater(afterMs: number): void {
  clearTimeout(timer);
  timer = setTimeout(adjust, afterMs);
}

/** Opens, changes or closes the stream so that it sends what the page listens to. */
function adjust(): void {
  const kinds = [...new Set([...listeners].flatMap((listener) => listener.kinds))].toSorted().join(',');
  if (kinds === '' || document.hidden) {
    close();
    if (kinds === '') setState('off');
    return;
  }
  if (source !== undefined && kinds === openKinds) return;
  close();
  open(kinds);
}

function close(): void {
  source?.close();
  source = undefined;
}

function open(kinds: string): void {
  openKinds = kinds;
  if (state !== 'open') setState(state === 'lost' ? 'lost' : 'connecting');
  const startsNow = lastEventId === '';
  const query = new URLSearchParams({ kinds, ...(startsNow ? {} : { lastEventId }) });
  const opened = new EventSource(`/v1/notifications/stream?${query.toString()}`);
  source = opened;
  opened.addEventListener('open', () => {
    waitMs = FIRST_WAIT_MS;
    setState('open');
    // What happened between the page's first reads and this moment comes in no event.
    if (startsNow) publishGap();
  });
  opened.addEventListener('error', () => {
    if (opened === source) onLost(opened);
  });
  opened.addEventListener('notification', (message: MessageEvent<string>) => {
    lastEventId = message.lastEventId;
    publish(JSON.parse(message.data));
  });
  opened.addEventListener('gap', () => publishGap());
}

/** An EventSource reconnects after a network failure, but not after a response of another content type or status. */
function onLost(opened: EventSource): void {
  setState('lost');
  if (opened.readyState !== EventSource.CLOSED) return;
  close();
  // Redirects to the sign-in form when the sign-in has ended.
  readPerson().catch(() => undefined);
  adjustLater(waitMs);
  waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
}

function publish(event: LiveEvent): void {
  for (const { kinds, onEvent } of listeners) if (kinds.some((wanted) => fits(wanted, event.kind))) onEvent(event);
}

function publishGap(): void {
  for (const { onEvent } of listeners) onEvent(null);
}

function fits(wanted: string, kind: string): boolean {
  return wanted === kind || (wanted.endsWith('*') && kind.startsWith(wanted.slice(0, -1)));
}

document.addEventListener('visibilitychange', () => adjustLater(document.hidden ? HIDDEN_MS : 0));
