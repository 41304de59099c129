/** Where the relay tells its operator what happens. Fields hold ids and codes, never an event's content. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, string | number | boolean>>;
export type Log = (level: LogLevel, message: string, fields: LogFields) => void;
