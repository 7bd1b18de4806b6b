/**
 * What runs wait for besides times, suspended or, of a question, while they go on: who learns of it, and what resumes them. `events` has what comes by API and hooks. The record of a question
 * (`questions`) is the entry of the run's journal at which it waits, so that it is kept, replayed and removed with its task; an answer is written
 * there by the script that resumes the run.
 */
export { answerCaller } from './caller/answer-caller.ts';
export { type CallerWait, callerWaitOf, callerWaitText, outputsOf, type ReachedWaits, readCallerWaits } from './caller/caller-wait.ts';
export { eventNameSchema, lineOf } from './events/event-line.ts';
export { DELIVERS } from './events/kept-events.ts';
export { matchOf, offerEvents } from './events/offer-events.ts';
export { resumeSending, sendEvent } from './events/send-event.ts';
export { waitKinds } from './gates.ts';
export { seeToWait, type WaitHandlers } from './see-to-wait.ts';
export { answerQuestion, mayAnswer } from './questions/answer-question.ts';
export { type Answerer, answererOf } from './questions/answerer.ts';
export { isSameQuestion } from './questions/asked.ts';
export {
  countOpenQuestions,
  findKeptQuestion,
  findQuestion,
  listQuestions,
  oldestOpenQuestions,
  questionsOfTask,
  readQuestions,
} from './questions/find-questions.ts';
export { QUESTION_ID, QUESTION_STATUSES, questionAwaited, questionId, type QuestionRecord, questionView } from './questions/question.ts';
export { listQuestion } from './questions/question-list.ts';
export { noteReminder, takeReminders } from './questions/reminders.ts';
export { lineUpQuestion, questionOfSession } from './questions/session-questions.ts';
export { followSubTasks, resumeParentOf } from './sub-tasks/resume-parent.ts';
export { startSubTasks } from './sub-tasks/start-sub-tasks.ts';
export { agentsOf, delegationText, readAnswers, readCall } from './sub-tasks/sub-tasks.ts';
