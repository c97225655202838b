"""The laws find what they are there to find. Run by `python3 -m unittest`."""

import unittest

import laws
import table


def line(scenario, outcome, handed_out=()):
    return {
        "api": "openai-chat",
        "client": "some",
        "scenario": scenario,
        "outcome": outcome,
        "handed_out": list(handed_out),
    }


LOOPED = {"returns": "stop", "text": "Count.It is 3.", "calls": [], "second": "Fine."}
GOOD = {"returns": "stop", "text": "On it.", "calls": [], "second": "Fine."}


class Laws(unittest.TestCase):
    def assert_broken(self, expected, line):
        self.assertEqual(laws.broken([line]), [f"openai-chat, some, {line['scenario']}: {expected}"])

    def test_a_looped_answer_has_counts_and_no_call(self):
        self.assertEqual(laws.broken([line("loop-1", LOOPED, ["Usage(input=24, output=14)"])]), [])
        self.assert_broken("expected a count of 24, found none", line("loop-1", LOOPED, ["Usage(input=12, output=14)"]))
        called = LOOPED | {"returns": "tool_calls"}
        self.assert_broken(
            f"expected the end of an answer without calls, found {called}",
            line("loop-1", called, ["Usage(input=24, output=14)"]),
        )
        self.assert_broken(
            "expected no trace of the gateway's own call, found Call(count_letters)",
            line("loop-1", LOOPED, ["Usage(24, 14)", "Call(count_letters)"]),
        )

    def test_a_good_outcome_breaks_none(self):
        good = [
            line("all-dropped", GOOD, ["Chunk(text='On it.')"]),
            line("whole/all-dropped", GOOD),
            line("blocked-middle", {"returns": "content_filter", "text": "On", "calls": []}),
            line("blocked-middle", {"raises": "APIError", "message": "no", "text": "On"}),
            line("cancel", {"text": "On", "upstream": "cancelled"}),
        ]
        self.assertEqual(laws.broken(good), [])

    def test_a_trace_of_what_was_dropped_is_found_wherever_it_is(self):
        leak = "Chunk(name='wipe_Canary')"
        self.assert_broken(
            f"expected no trace of what was withheld, found {leak}", line("all-dropped", GOOD, [leak])
        )

    def test_a_block_that_looks_like_an_answer_is_found(self):
        for finish in ("stop", "end_turn", "completed", "STOP", None):
            outcome = {"returns": finish, "text": "On it.", "calls": []}
            self.assert_broken(
                f"expected an exception or the ending of a refusal, found {outcome}",
                line("whole/blocked-start", outcome),
            )

    def test_a_block_that_is_asked_for_again_is_found(self):
        outcome = {"raises": "ServerError", "message": "no", "text": "", "asked": "3"}
        self.assert_broken(f"expected to be asked once, found {outcome}", line("blocked-error", outcome))

    def test_an_exception_where_an_answer_goes_on_is_found(self):
        outcome = {"raises": "IndexError", "message": "", "text": "On it."}
        expected = {"text": "On it.", "calls": [], "second": "Fine."}
        self.assert_broken(
            f"expected an answer with {expected}, found {outcome}", line("all-dropped", outcome)
        )

    def test_a_call_that_was_run_without_leave_is_found(self):
        outcome = {**GOOD, "ran": ["run {}"]}
        self.assert_broken("expected [] to be run, found ['run {}']", line("all-dropped", outcome))

    def test_an_upstream_that_goes_on_without_its_client_is_found(self):
        outcome = {"text": "On", "upstream": "completed"}
        self.assert_broken(
            f"expected the upstream to be cancelled, found {outcome}", line("cancel", outcome)
        )


class Tables(unittest.TestCase):
    def test_every_difference_is_told(self):
        found = table.outcomes([line("cut-short", {"returns": None, "text": "", "calls": []})])
        outcome = {"returns": "nothing", "text": "", "calls": []}
        self.assertEqual(found, {"openai-chat": {"cut-short": {"some": outcome}}})
        self.assertEqual(table.differences(found, found), [])
        self.assertEqual(
            table.differences({}, found),
            [f"openai-chat, some, cut-short: expected None, found {outcome}"],
        )
        self.assertEqual(
            table.differences(found, {}),
            [f"openai-chat, some, cut-short: expected {outcome}, found None"],
        )


if __name__ == "__main__":
    unittest.main()
