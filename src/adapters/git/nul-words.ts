/** What git answers with `-z`: the one form in which every name is as it is. */
export const nulWords = (text: string): readonly string[] => text.split('\0').filter((word) => word !== '')
