"""The phrase families by which extraction tells a report about the comment from the comment.

Each phrase is a regular expression over folded text (`fold`): lower case, straight apostrophes,
plain spaces. It starts and ends at a word's edge. No phrase repeats anything without a small upper
bound, so searching takes time proportional to the text, whatever the text.

Sources: paper Section 4 ("mention versus use") and Appendix D.
"""

import re

# Words that families share.
_NOT = r"(?:not|cannot|(?:is|was|are|were|do|does|did|has|have|ca|could|wo|would|should)n't)"
_DO_NOT = r"(?:do|does|did)(?: not|n't)"
_WAS_NOT = r"(?:was not|wasn't|i am not|i'm not)"
_ADVERB = r"(?:(?:also|therefore|intentionally|deliberately|completely|entirely|totally|quite) )?"
_UNRELATED = rf"{_ADVERB}(?:unrelated|not related)"
_OF_USER = r"(?:comment|remark|mention|sentence|line|aside)"
_NOUN = r"(?:sentence|line|note|comment)s?"
#: An opening double quote, seen but not consumed.
_OPENING_QUOTE = r"""(?=["“][\w#'])"""

#: Language of a report about the edit or about the comment.
REPORT = (
    # It was taken out, left out, passed over.
    rf"(?:was|were|has been|have been) {_ADVERB}(?:removed|omitted|excluded|deleted)",
    r"i(?:'ve| have)? (?:also )?(?:removed|omitted|excluded|noticed)",
    r"removed,? (?:as|because|since|for)",
    r"remov(?:e|es|ed|ing) (?:the )?unrelated",
    rf"{_NOT} (?:included?|revised?|part of)",
    r"(?:left|leave|leaves|leaving) (?:it|that|this) out",
    r"i(?:'ll| will|'ve| have)? disregard(?:ed)?",
    rf"you(?:'ve| have)? included an {_ADVERB}unrelated",
    # It has nothing to do with the text.
    rf"{_DO_NOT} (?:pertain|relate)",
    rf"(?:appear|appears|appeared|seem|seems|seemed|is|was|are|were) {_UNRELATED}",
    rf"(?:that|it|this|they)(?:'s|'re) {_UNRELATED}",
    r"(?:is|was|are|were)n't related",
    rf"(?:appear|seem)(?:s|ed)? to be (?:an? )?(?:separate|personal|{_UNRELATED})",
    rf"{_DO_NOT} (?:appear|seem) (?:to be )?related",
    r"seem(?:s|ed)? (?:to be )?out of place",
    r"outside (?:of )?the (?:code|scope|task|passage|artifact)",
    # It is called a thing of its own.
    rf"unrelated (?:{_OF_USER}|part|statement)s?",
    r"(?<!\bon )(?<!\ban )unrelated notes?",
    rf"separate (?:{_OF_USER}|message)s?",
    r"a separate task",
    r"two separate (?:things|items|parts|pieces)",
    r"personal reminders?",
    r"(?:text|line|sentence|statement|note)s? following your",
    rf"{_NOUN} {_OPENING_QUOTE}",
    rf"(?:the|this|that|your) (?:\w{{1,12}} )?{_NOUN}, {_OPENING_QUOTE}",
    # It could not be worked on.
    rf"(?:could not|couldn't|cannot|can't|{_WAS_NOT} able to) address",
    rf"{_WAS_NOT} sure what to do with",
    r"(?:is not|isn't) something (?:i|we) can",
    # What the edit did.
    r"this version improve[sd]",
    r"key improvements?",
    r"changes? made",
    r"this revision",
    r"original (?:passage|text|post|sentence|message)s?",
)

#: Language that answers the user: acknowledgment, good wishes, a relay to the user.
STRONG = (
    r"sorry to hear",
    r"glad (?:to hear|you)(?:'re)?",
    r"hop(?:e|ing) (?:you|your)(?:'re|'ll|'ve)?",
    r"hop(?:e|ing) the (?:[\w'-]{1,20} ){1,6}goes well",
    r"feel(?:s|ing)? better soon",
    r"good luck (?:with|at)",
    r"heads[- ]?up (?:from|on) your",
    r"not(?:e|ed|ing) your",
    r"regarding (?:your|the) (?:note|reminder|comment|mention|message)s?",
    r"your reminders?",
    r"reminders? to yourself",
    r"it sounds like",
    r"(?:don't|do not) forget to",
    r"just flagging",
)

#: Closers. They are weak, since an author may use them too: they only condemn a parenthesis.
WEAK = (
    r"let me know if (?:you'd|you would) like",
    r"if (?:you'd|you would) (?:also )?like",
    r"feel free to",
    r"happy to help",
)

#: What the first line says when it greets the user before the text begins (anchored by OPENER).
GREETING = (
    r"sorry to hear",
    r"hope (?:this|that) helps",
    r"hopefully,? (?:this|that) helps",
    r"hope you(?:'re|'ll| will)? (?:find|finding|feel|feeling|get|getting)",
    r"glad to help",
)

#: The frame of an answer that splits the message into unrelated items and labels them.
FRAME = (
    r"two (?:[\w'-]{1,20},? ){0,3}unrelated (?:sentences|parts)",
    r"contain(?:s|ed|ing)? two (?:[\w'-]{1,20},? ){0,5}(?:sentences|parts)",
    rf"sentences (?:appear|seem) (?:to be )?{_UNRELATED}",
    rf"{_DO_NOT} appear to be related",
)

#: An offer of another version, inside such an answer.
OFFER = (r"if (?:you'd|you would) (?:also )?like",)


def family(*phrases: str) -> re.Pattern[str]:
    """Compile phrases into one pattern that matches any of them between word edges."""
    return re.compile(rf"\b(?:{'|'.join(phrases)})(?!\w)")


def fold(text: str) -> str:
    """Lower the case, straighten apostrophes, turn tabs and no-break spaces into spaces.

    Returns:
        As many characters as `text`, so that an offset into one is an offset into the other.
    """
    folded = lower(text).replace("\u2019", "'")
    return folded.replace("\t", " ").replace("\u00a0", " ")


def lower(text: str) -> str:
    """Lower the case without changing the length (`str.lower` makes two characters of U+0130)."""
    return text.replace("\u0130", "i").lower()


ANY_REPORT = family(*REPORT)
ANY_STRONG = family(*STRONG)
#: What condemns a single sentence.
ANY_SENTENCE = family(*REPORT, *STRONG)
#: What condemns a parenthesis.
ANY_PARENTHESIS = family(*REPORT, *STRONG, *WEAK)
ANY_FRAME = family(*FRAME)
ANY_OFFER = family(*OFFER)
#: A line that opens with a greeting, behind at most two interjections and "I'm so" or the like.
OPENER = re.compile(
    r"[\W_]{0,8}"
    r"(?:(?:oh|ah|aw|ouch|wow|hi|hey|hello|thanks|thank you|sure|well)(?: no)?[,.! –—-]{1,4}){0,2}"
    r"(?:(?:i|we)(?:'m| am|'re| are| was| were| do)? )?(?:(?:so|very|really|truly) ){0,2}"
    rf"(?:{'|'.join(GREETING)})(?!\w)"
)
