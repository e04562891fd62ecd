#!/usr/bin/env perl
# An agent for riff-tui in Perl: it does what agent.py does, with nothing but what comes with Perl.
use strict;
use warnings;
use JSON::PP;

$| = 1;    # every line is sent at once
my $state = 'greeting';
my @states = (
    [collect_contact => [name => 'Who is calling?'], [phone => 'Which number can we call?']],
    [collect_preferences => [bedrooms => 'How many bedrooms?'], [move_in => 'From when on?'], [pets => 'Any pets?']],
    [search_units => ['' => 'There is one that should suit you.']],
    [collect_viewing_time => [viewing_day => 'Which day suits you?'], [viewing_time => 'At what time?']],
    [confirm_viewing => ['' => 'Shall I book that?']],
    ['book_viewing'],
    [viewing_booked => ['' => 'It is booked. Goodbye!']],
);

sub tell_riff { print encode_json({@_}), "\n" }
sub event { tell_riff(type => 'event', event => {@_}) }

sub ask {
    tell_riff(@_);
    my $answer = decode_json(scalar <STDIN>);
    return $answer if $answer->{type} ne 'end';
    tell_riff(type => 'bye', status => $state);
    exit;
}

<STDIN>;    # what the call is about: its flow, scenario and tools
event(type => 'state_entered', state => $state);
ask(type => 'ready', agent_model => 'example-perl', states => JSON::PP::true);
for (@states) {
    my ($next, @questions) = @$_;
    event(type => 'state_exited', state => $state, to_state => $next);
    event(type => 'state_entered', state => $state = $next);
    ask(type => 'tool', id => '1', name => 'list_available_units', arguments => {bedrooms => '2'})
        if $state eq 'search_units';
    for (@questions) {
        my ($slot, $question) = @$_;
        my $answer = ask(type => 'say', text => $question)->{text};
        event(type => 'slot_filled', slot => $slot, value => $answer, state => $state) if $slot;
    }
}
