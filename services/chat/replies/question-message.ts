import { Actions, type AdapterPostableMessage, Button, Card, CardText } from 'chat';
import { type ChatQuestion, splitText } from '#shared/deliveries/index.ts';
import { ellipsize } from '#shared/text/index.ts';
import type { ButtonBounds, PlatformDriver } from '../platforms/platform-driver.ts';

type Writer = Pick<PlatformDriver, 'maxCharacters' | 'buttons' | 'render' | 'renderPlain'>;

/** The messages that ask a question in full. The last one has a button for each choice, where the platform shows that many. */
export function questionMessages(driver: Writer, question: ChatQuestion): AdapterPostableMessage[] {
  const { before, last } = textsOf(driver, question);
  return [...before.map((text) => driver.render(text)), lastMessage(driver, question, last)];
}

/** The last of these messages with the question's end in place of its buttons. */
export function closedMessage(driver: Writer, question: ChatQuestion, end: string): AdapterPostableMessage {
  const { last } = textsOf(driver, question);
  const { maxCharacters, buttons } = driver;
  const bound = hasButtons(driver, question) ? buttons.textCharacters : maxCharacters;
  const text = `${ellipsize(last, bound - end.length - 2)}\n\n${end}`;
  return hasButtons(driver, question) ? Card({ children: [CardText(buttons.write(text))] }) : plainOrMarked(driver, question, text);
}

function hasButtons({ buttons }: Writer, { choices }: ChatQuestion): boolean {
  return choices.length > 0 && choices.length <= buttons.max;
}

/** People who decide have to see all that they decide about, and every choice, however the buttons cut it. */
function textsOf(driver: Writer, question: ChatQuestion): { before: string[]; last: string } {
  const { text, choices } = question;
  const listing = choices.map((choice, at) => `${at + 1}. ${choice}`).join('\n');
  const complete = listing === '' ? text : `${text}\n\n${listing}`;
  if (hasButtons(driver, question)) {
    const { textCharacters } = driver.buttons;
    return complete.length <= textCharacters
      ? { before: [], last: complete }
      : { before: splitText(text, driver.maxCharacters), last: listing };
  }
  const parts = splitText(complete, driver.maxCharacters);
  return { before: parts.slice(0, -1), last: parts.at(-1) ?? complete };
}

function lastMessage(driver: Writer, question: ChatQuestion, text: string): AdapterPostableMessage {
  if (!hasButtons(driver, question)) return plainOrMarked(driver, question, text);
  const { buttons } = driver;
  const labels = question.choices.map((choice, at) => ({ id: `${question.id}.${at + 1}`, label: labelOf(choice, at, buttons) }));
  const rows = rowsOf(labels, buttons).map((row) => Actions(row.map((button) => Button(button))));
  return Card({ children: [CardText(buttons.write(text)), ...rows] });
}

/** Markdown would run the lines of choices together. */
function plainOrMarked(driver: Writer, { choices }: ChatQuestion, text: string): AdapterPostableMessage {
  return choices.length === 0 ? driver.render(text) : driver.renderPlain(text);
}

/** A choice that is cut keeps its number, so that no two labels are the same. */
function labelOf(choice: string, at: number, { labelCharacters }: ButtonBounds): string {
  return choice.length <= labelCharacters ? choice : ellipsize(`${at + 1}. ${choice}`, labelCharacters);
}

interface ShownButton {
  /** See `parseAction`. */
  id: string;
  label: string;
}

function rowsOf(shown: readonly ShownButton[], { rowCharacters }: ButtonBounds): ShownButton[][] {
  const rows: ShownButton[][] = [];
  let room = 0;
  for (const button of shown) {
    room -= button.label.length;
    if (room < 0 || rows.length === 0) {
      rows.push([]);
      room = rowCharacters - button.label.length;
    }
    rows.at(-1)?.push(button);
  }
  return rows;
}
